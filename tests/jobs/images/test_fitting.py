import time

from schedulers.images.compatibility import Compatibility, NodePlatform, fit
from schedulers.images.config import Image, Variant
from schedulers.images.requirements import Device

DIGEST = "sha256:" + "ab" * 32
H200, T4 = Device(driver=(550, 54, 15), compute=(9, 0)), Device(driver=(470, 82, 1), compute=(7, 5))


def image(env=None, arch="amd64", system="linux", others=()):
    return Image(
        "acme.org/a:v1", DIGEST, [Variant(system, arch, DIGEST, env or {})] if arch else [], others
    )


def hosts(count, device=H200, arch="amd64", model="NVIDIA H200"):
    return [NodePlatform(f"{model[-4:]}-{n}", arch, device, model) for n in range(count)]


def test_image_fits_thirty_of_thirty_two_nodes_and_others_have_reasons():
    found = fit(
        image({"NVIDIA_REQUIRE_CUDA": "cuda>=12.0"}), hosts(30) + hosts(2, T4), wants_gpus=True
    )
    assert found.text == (
        "The image fits 30 of 32 nodes; 2 have driver 470.82.1, it needs 525 or newer (CUDA 12.0)."
    )
    assert found.advice == (
        "Choose an image for CUDA 11.4 or older there, or newer nodes. "
        'To try all the same, set NVIDIA_DISABLE_REQUIRE: "1" in the job\'s environment.'
    )
    assert not found.is_hopeless


def test_single_node_uses_the_singular():
    found = fit(image({"NVIDIA_REQUIRE_CUDA": "cuda>=12.0"}), hosts(1, T4), wants_gpus=True)
    assert (
        found.text
        == "The image fits 0 of 1 node; 1 has driver 470.82.1, it needs 525 or newer (CUDA 12.0)."
    )
    assert found.is_hopeless
    assert fit(image(), hosts(1), wants_gpus=True).text == "The image fits the only node."
    assert fit(image(), hosts(3), wants_gpus=True).text == "The image fits all 3 nodes."
    assert (
        fit(image(), [], wants_gpus=True).text == "There is no node that it could be put against."
    )


def test_job_without_gpus_requires_no_driver():
    assert (
        fit(image({"NVIDIA_REQUIRE_CUDA": "cuda>=12.0"}), hosts(2, T4), wants_gpus=False).fits == 2
    )


def test_image_for_another_architecture_fits_nowhere_and_gives_advice():
    found = fit(image(), hosts(2, arch="arm64"), wants_gpus=False)
    assert found.text == "The image fits 0 of 2 nodes; 2 are arm64, it is built for amd64 only."
    assert found.advice == "Build it for arm64 too, or choose a pool of other nodes."
    assert found.is_hopeless


def test_node_is_judged_by_the_image_it_would_pull():
    both = Image(
        "a",
        DIGEST,
        [
            Variant("linux", arch, DIGEST, {"CUDA_VERSION": cuda})
            for arch, cuda in (("amd64", "11.8"), ("arm64", "12.6"))
        ],
    )
    found = fit(both, hosts(3) + hosts(2, arch="arm64"), wants_gpus=True)
    assert found.text == (
        "The image fits 3 of 5 nodes; 2 have driver 550.54.15, it needs 560 or newer (CUDA 12.6)."
    )


def test_unknown_node_facts_refuse_nothing():
    found = fit(
        image({"NVIDIA_REQUIRE_CUDA": "cuda>=12.4"}), hosts(2, Device(), arch=""), wants_gpus=True
    )
    assert found.text == (
        "The image fits 0 of 2 nodes; 2 tell no driver version, it needs driver 550 or newer "
        "(CUDA 12.4)."
    )
    assert not found.is_hopeless
    assert found.groups[0].reason.fit == Compatibility.UNKNOWN
    assert fit(image(arch="ppc64le", system="linux"), hosts(2, arch=""), wants_gpus=False).fits == 2


def test_windows_image_fits_no_node():
    found = fit(image(system="windows"), hosts(2, arch=""), wants_gpus=False)
    assert found.text == "The image fits 0 of 2 nodes; 2 run Linux, it is built for windows only."
    assert found.is_hopeless


def test_image_without_architecture_is_assumed_to_match():
    assert (
        fit(
            Image("a", DIGEST, [Variant("linux", "", DIGEST)]),
            hosts(1, arch="arm64"),
            wants_gpus=False,
        ).fits
        == 1
    )


def test_newer_cuda_minor_version_is_a_warning():
    found = fit(
        image({"CUDA_VERSION": "12.4.1"}),
        hosts(2, Device(driver=(535, 104, 5), compute=(9, 0))),
        wants_gpus=True,
    )
    assert found.text == (
        "The image fits 0 of 2 nodes; 2 have driver 535.104.5, it needs 550 or newer (CUDA 12.4)."
    )
    assert "minor version compatibility" in found.advice
    assert not found.is_hopeless


def test_condition_disabled_by_the_job_is_not_checked():
    old = hosts(2, Device(driver=(535, 104, 5), compute=(9, 0)))
    env = {"NVIDIA_REQUIRE_CUDA": "cuda>=12.4", "CUDA_VERSION": "12.4"}
    assert fit(image(env), old, wants_gpus=True, env={"NVIDIA_DISABLE_REQUIRE": "1"}).fits == 2
    found = fit(image(env), hosts(2, T4), wants_gpus=True, env={"NVIDIA_DISABLE_REQUIRE": "1"})
    assert (
        found.text
        == "The image fits 0 of 2 nodes; 2 have driver 470.82.1, its CUDA 12 needs 525 or newer."
    )
    assert not found.is_hopeless


AGAINST = [
    (
        {"TORCH_CUDA_ARCH_LIST": "7.5 8.0"},
        H200,
        "2 have GPUs of compute capability 9.0, its PyTorch is built for 7.5, 8.0",
    ),
    ({"TORCH_CUDA_ARCH_LIST": "7.5;8.0+PTX"}, H200, ""),
    ({"TORCH_CUDA_ARCH_LIST": "8.0 9.0a"}, H200, ""),
    ({"TORCH_CUDA_ARCH_LIST": "8.0"}, Device(compute=(8, 6)), ""),
    ({"TORCH_CUDA_ARCH_LIST": "8.6"}, Device(compute=(8, 0)), "its PyTorch is built for 8.6"),
    ({"TORCH_CUDA_ARCH_LIST": "Hopper"}, H200, ""),
    ({"CUDA_VERSION": "11.3"}, H200, "which CUDA 11.3 does not know: code for it came with 11.8"),
    (
        {"CUDA_VERSION": "13.0"},
        Device(driver=(590,), compute=(7, 0)),
        "which CUDA 13 no longer builds for",
    ),
    ({"CUDA_VERSION": "12.4"}, H200, ""),
    (
        {"NVIDIA_REQUIRE_ARCH": "arch>=8.0"},
        T4,
        "2 have GPUs of compute capability 7.5, it needs 8.0 or newer",
    ),
    (
        {"NVIDIA_REQUIRE_ARCH": "arch>=8.0"},
        Device(driver=(550,)),
        "2 tell no compute capability, it asks for arch>=8.0",
    ),
    (
        {"NVIDIA_REQUIRE_CUDA": "cuda>=12.4"},
        Device(cuda=(11, 4)),
        "2 run CUDA up to 11.4, it needs 12.4 or newer",
    ),
    (
        {"NVIDIA_REQUIRE_X": "brand=geforce"},
        Device(driver=(550,), brand="tesla"),
        "2 have driver 550, it asks for brand=geforce",
    ),
    ({"NVIDIA_REQUIRE_X": "weather=fine"}, H200, "it asks for weather=fine"),
]


def test_incompatible_gpu_is_explained(subtests):
    for env, device, says in AGAINST:
        with subtests.test(env=env, device=device):
            found = fit(image(env), hosts(2, device), wants_gpus=True)
            assert says in found.text
            assert (found.fits == 2) is (not says)


def test_image_that_failed_on_this_gpu_is_a_warning():
    found = fit(
        image(),
        hosts(2) + hosts(1, T4, model="Tesla T4"),
        wants_gpus=True,
        ended={"NVIDIA H200": "in job #12"},
    )
    assert found.text == (
        "The image fits 1 of 3 nodes; 2 have NVIDIA H200, where this very image ended with "
        "“no kernel image is available” in job #12."
    )
    assert not found.is_hopeless


def test_worst_reasons_come_first_and_the_rest_are_counted():
    many = [
        NodePlatform(f"n{n}", "amd64", Device(driver=(400 + n,)), "x") for n in range(9)
    ] + hosts(1, Device())
    found = fit(image({"NVIDIA_REQUIRE_CUDA": "cuda>=12.0"}), many, wants_gpus=True)
    assert found.text.count("it needs 525") == 4
    assert found.text.endswith("; 6 more for other reasons.")
    assert found.groups[-1].reason.fit == Compatibility.UNKNOWN


def test_two_thousand_nodes_are_judged_quickly():
    brands = [
        f"brand={b},driver>={d},driver<{d + 1}"
        for b in ("tesla", "nvidia", "geforce", "grid")
        for d in (470, 525, 535)
    ]
    alternatives = "cuda>=12.4 " + " ".join(brands)
    begin = time.process_time()
    fit(
        image({"NVIDIA_REQUIRE_CUDA": alternatives}),
        hosts(2000, Device(driver=(545,), compute=(9, 0))),
        wants_gpus=True,
    )
    assert time.process_time() - begin < 3
