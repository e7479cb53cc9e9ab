"""URLs below `/hf/`."""

from django.urls import path, re_path

from datasets.hub import commits, repositories, trees
from datasets.hub.requests import no_repository, no_route

_REPOSITORY = r"api/(?P<plural>models|datasets)/(?P<org>[^/]+)/(?P<name>[^/]+)"
# A model has no prefix: /organization/name/resolve/…
_DATASET = r"datasets/(?P<org>[^/]+)/(?P<name>[^/]+?)"
_MODEL = r"(?P<org>[^/]+)/(?P<name>[^/]+?)"
_REVISION = r"(?P<revision>.+)"
_ROUTES = (
    ("", repositories.info),
    (rf"/revision/{_REVISION}", repositories.info),
    (r"/settings", repositories.settings),
    (r"/auth-check(?P<write>/write)?", repositories.auth_check),
    (r"/tree/(?P<rest>.+)", trees.tree),
    (rf"/paths-info/{_REVISION}", trees.paths_info),
    (r"/refs", trees.refs),
    (rf"/commits/{_REVISION}", trees.commits),
    (r"/super-squash/(?P<branch>.+)", trees.super_squash),
    (r"/lfs-files/duplicate", commits.duplicate),
    (r"/branch/(?P<branch>.+)", trees.branch),
    (rf"/tag/{_REVISION}", trees.tag),
    (rf"/preupload/{_REVISION}", commits.preupload),
    (rf"/xet-(?P<access>read|write)-token/{_REVISION}", commits.xet_token),
    (rf"/commit/{_REVISION}", commits.commit),
)
_FILES = (
    (r"/resolve/(?P<rest>.+)", trees.resolve),
    (r"\.git/info/lfs/objects/batch", commits.lfs_batch),
)
# Names without an organization, such as gpt2, are repositories of the Hub's own.
_NAMELESS = (
    r"^api/(?:models|datasets)/(?P<name>[^/]+)(?:/(?:revision|tree|commit|preupload)/.+)?$",
    r"^(?:datasets/)?(?P<name>[^/]+)/resolve/.+$",
)
urlpatterns = [
    path("upload/<str:signature>", commits.lfs_upload),
    path("api/whoami-v2", repositories.whoami),
    path("api/repos/create", repositories.create),
    path("api/repos/delete", repositories.delete),
    path("api/repos/move", repositories.move),
    path("api/validate-yaml", repositories.validate_yaml),
    re_path(r"^api/(?P<plural>models|datasets)$", repositories.search),
    *(re_path(f"^{_REPOSITORY}{rest}$", view) for rest, view in _ROUTES),
    *(re_path(f"^{_DATASET}{rest}$", view, {"plural": "datasets"}) for rest, view in _FILES),
    *(re_path(f"^{_MODEL}{rest}$", view, {"plural": "models"}) for rest, view in _FILES),
    *(re_path(pattern, no_repository) for pattern in _NAMELESS),
    re_path(r"^", no_route),
]
