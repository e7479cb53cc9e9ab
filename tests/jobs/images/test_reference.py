from schedulers.images.reference import parse

DIGEST = "sha256:" + "ab" * 32


NAMES = [
    ("ubuntu", "docker.io/library/ubuntu:latest"),
    ("pytorch/pytorch:2.8.0-cuda12.8", "docker.io/pytorch/pytorch:2.8.0-cuda12.8"),
    ("index.docker.io/ubuntu:24.04", "docker.io/library/ubuntu:24.04"),
    ("nvcr.io/nvidia/pytorch:26.09-py3", "nvcr.io/nvidia/pytorch:26.09-py3"),
    ("docker://nvcr.io#nvidia/pytorch:26.09-py3", "nvcr.io/nvidia/pytorch:26.09-py3"),
    ("localhost:5000/a:v1", "localhost:5000/a:v1"),
    ("localhost/a", "localhost/a:latest"),
    ("[::1]:5000/a/b", "[::1]:5000/a/b:latest"),
    (f"registry.acme.org/a@{DIGEST}", f"registry.acme.org/a@{DIGEST}"),
    (f"registry.acme.org/a:v2@{DIGEST}", f"registry.acme.org/a:v2@{DIGEST}"),
]


def test_image_name_is_parsed_like_docker(subtests):
    for text, full in NAMES:
        with subtests.test(text=text, full=full):
            assert str(parse(text)) == full


NO_NAMES = [
    "",
    "/data/images/torch.sqsh",
    "./torch.sif",
    "Team/Image",
    "a b",
    "a:",
    "a@sha256:12",
    "a@",
    "https://acme.org/a",
    "acme.org/../../etc",
    "acme.org/a?b=c",
    "acme.org\r\nX: y/a",
    "user:pw@acme.org/a",
    "acme.org:99999999/a",
    "a/b:" + "t" * 129,
    "acme.org/" + "a" * 300,
]


def test_invalid_image_name_is_rejected(subtests):
    for text in NO_NAMES:
        with subtests.test(text=text):
            assert parse(text) is None


def test_docker_hub_uses_its_registry_host_and_digest_overrides_tag():
    assert parse("ubuntu").address == "registry-1.docker.io"
    assert parse(f"ubuntu:24.04@{DIGEST}").version == DIGEST
