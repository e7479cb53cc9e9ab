from schedulers.images.requirements import (
    Device,
    conditions_of,
    driver_for,
    is_met,
    parse,
    version,
)

CUDA_12_4 = (
    "cuda>=12.4 brand=tesla,driver>=470,driver<471 brand=unknown,driver>=470,driver<471 "
    "brand=nvidia,driver>=535,driver<536 "
    "brand=geforce,driver>=535,driver<536"
)


JUDGED = [
    (Device(driver=(550, 54, 15)), True),
    (Device(driver=(999,)), True),  # newer than any known version
    (Device(cuda=(12, 4)), True),
    (
        Device(driver=(535, 104, 5)),
        None,
    ),  # depends on the brand, which is unknown
    (Device(driver=(535, 104, 5), brand="nvidia"), True),
    (Device(driver=(535, 104, 5), brand="tesla"), False),
    (Device(driver=(545,)), False),  # too old for any brand
    (Device(driver=(450, 80, 2)), False),
    (Device(), None),
    (Device(cuda=(12, 3)), None),  # unknown driver, so an alternative may hold
]


def test_nvidia_image_is_judged_as_by_the_container_toolkit(subtests):
    for device, answer in JUDGED:
        with subtests.test(device=device, answer=answer):
            assert is_met(parse(CUDA_12_4), device) is answer


COMPARISONS = [
    ("arch>=8.0", Device(compute=(9, 0)), True),
    ("arch>=8.0", Device(compute=(7, 5)), False),
    (
        "arch>=8.0,cuda>=12",
        Device(compute=(7, 5)),
        False,
    ),  # false even without CUDA
    ("cuda=12.4", Device(cuda=(12, 4, 0)), True),
    ("cuda!=12.4", Device(cuda=(12, 5)), True),
    ("driver<471", Device(driver=(470, 82, 1)), True),
    ("driver>535", Device(driver=(535, 104)), True),
    ("brand!=tesla", Device(brand="geforce"), True),
    ("weather>=12", Device(cuda=(12, 4)), None),
    ("cuda>=twelve", Device(cuda=(12, 4)), None),
    ("cuda>>12", Device(cuda=(12, 4)), None),
    ("cuda>=14", Device(driver=(999,)), None),
]


def test_comparison_operators_evaluate_as_written(subtests):
    for text, device, answer in COMPARISONS:
        with subtests.test(text=text, device=device):
            assert is_met(parse(text), device) is answer


def test_all_variables_must_hold_except_jetson_and_disabled_ones():
    env = {
        "NVIDIA_REQUIRE_CUDA": "cuda>=12.4",
        "NVIDIA_REQUIRE_ARCH": "arch>=8.0",
        "NVIDIA_REQUIRE_JETPACK": "x",
        "NVIDIA_REQUIRE_JETPACK_HOST_MOUNTS": "y",
    }
    assert conditions_of(env) == [parse("arch>=8.0"), parse("cuda>=12.4")]
    assert conditions_of({**env, "NVIDIA_DISABLE_REQUIRE": "true"}) == []
    assert conditions_of({**env, "NVIDIA_DISABLE_REQUIRE": "0"}) != []


def test_image_with_only_a_cuda_version_requires_that_version():
    assert conditions_of({"CUDA_VERSION": "12.4.1"}) == [parse("cuda>=12.4")]
    assert conditions_of({"CUDA_VERSION": "12.4.1", "NVIDIA_REQUIRE_CUDA": "cuda>=11"}) == [
        parse("cuda>=11")
    ]
    assert conditions_of({"CUDA_VERSION": "newest"}) == []
    assert conditions_of({"NVIDIA_REQUIRE_CUDA": " "}) == []


def test_megabyte_of_conditions_is_evaluated_quickly():
    condition = parse("cuda>=12 " * 100_000)
    assert len(condition) == 201
    # The unread alternative may hold.
    assert is_met(condition, Device(cuda=(11, 8))) is None


def test_versions_compare_as_numbers():
    assert version("535.104.05") == (535, 104, 5)
    assert version("12.4.1-devel") == (12, 4, 1)
    assert version("v12.4") == (12, 4)
    assert version("٣") is version("") is version("12..4") is None


def test_driver_for_a_cuda_version_is_the_oldest_that_supports_it():
    assert (driver_for((12, 4)), driver_for((12, 0)), driver_for((11, 8)), driver_for((99, 0))) == (
        550,
        525,
        520,
        None,
    )
