from __future__ import annotations

from django.urls import URLPattern, path

from datasets.api import folders, imports, uploads, versions, views
from datasets.models import RepositoryKind
from portal.api.schema import Tag


def _routes(kind: RepositoryKind) -> list[URLPattern]:
    """Return the routes of one kind; both are served by the same views."""
    rows = f"orgs/<slug:org>/{kind}s"
    one = f"{rows}/<str:repository>"
    name = f"api-{kind}"
    found = (
        (rows, views.RepositoriesView, f"{name}s"),
        (f"{rows}-trash", views.TrashView, f"{name}s-trash"),
        (f"{rows}-trash/<uuid:trashed>", views.TrashedView, f"{name}s-trash-entry"),
        (f"{rows}-default-retention", views.DefaultRetentionView, f"{name}s-retention"),
        (one, views.RepositoryView, name),
        (f"{one}/shares", views.SharesView, f"{name}-shares"),
        (f"{one}/shares/<slug:with_team>", views.ShareView, f"{name}-share"),
        (f"{one}/space", views.SpaceView, f"{name}-space"),
        (f"{one}/retention", views.RetentionView, f"{name}-retention"),
        (f"{one}/versions", versions.VersionsView, f"{name}-versions"),
        (f"{one}/versions/<path:revision>", versions.VersionView, f"{name}-version"),
        (f"{one}/commits", versions.CommitsView, f"{name}-commits"),
        (f"{one}/tree", versions.TreeView, f"{name}-tree"),
        (f"{one}/diff", versions.DiffView, f"{name}-diff"),
        (f"{one}/files/<str:revision>/<path:path>", versions.FileView, f"{name}-file"),
        (f"{one}/downloads/<str:revision>", versions.DownloadsView, f"{name}-downloads"),
        (f"{one}/refs", versions.RefsView, f"{name}-refs"),
        (f"{one}/tags/<path:tag>", versions.TagView, f"{name}-tag"),
        (f"{one}/branches", versions.BranchesView, f"{name}-branches"),
        (f"{one}/branches/<path:branch>", versions.BranchView, f"{name}-branch"),
        (f"{one}/contents", uploads.ContentsView, f"{name}-contents"),
        (f"{one}/contents/batch", uploads.BatchView, f"{name}-contents-batch"),
        (f"{one}/uploads", uploads.UploadsView, f"{name}-uploads"),
        (f"{one}/uploads/<uuid:upload>", uploads.UploadView, f"{name}-upload"),
        (f"{one}/imports", imports.ImportsView, f"{name}-imports"),
        (f"{one}/imports/<uuid:imported>", imports.ImportView, f"{name}-import"),
        (
            f"{one}/imports/<uuid:imported>/cancel",
            imports.CancelImportView,
            f"{name}-import-cancel",
        ),
        (
            f"{one}/imports/<uuid:imported>/resume",
            imports.ResumeImportView,
            f"{name}-import-resume",
        ),
    )
    return [path(route, view.as_view(kind=kind), name=label) for route, view, label in found]


_WORKSPACES = "orgs/<slug:org>/workspaces"
_WORKSPACE = f"{_WORKSPACES}/<str:workspace>"
_FOLDERS = (
    (_WORKSPACES, folders.FoldersView, "workspaces"),
    (f"{_WORKSPACES}-trash", folders.FoldersTrashView, "workspaces-trash"),
    (f"{_WORKSPACES}-trash/<uuid:trashed>", folders.TrashedFolderView, "workspaces-trash-entry"),
    (_WORKSPACE, folders.FolderView, "workspace"),
    (f"{_WORKSPACE}/teams/<slug:with_team>", folders.TeamInvitationView, "workspace-team"),
    (f"{_WORKSPACE}/people/<str:email>", folders.PersonInvitationView, "workspace-person"),
    (f"{_WORKSPACE}/tree", folders.FolderTreeView, "workspace-tree"),
    (f"{_WORKSPACE}/files/<path:path>", folders.FolderFileView, "workspace-file"),
    (f"{_WORKSPACE}/contents/batch", folders.FolderBatchView, "workspace-contents-batch"),
    (f"{_WORKSPACE}/folders/<path:path>", folders.SubfolderView, "workspace-folder"),
    (f"{_WORKSPACE}/moves", folders.FolderMovesView, "workspace-moves"),
    (f"{_WORKSPACE}/uploads", folders.FolderUploadsView, "workspace-uploads"),
    (f"{_WORKSPACE}/uploads/<uuid:upload>", folders.FolderUploadView, "workspace-upload"),
)
TAGS = (
    Tag("Datasets", 50, ("datasets", "datasets-trash", "datasets-default-retention")),
    Tag("Checkpoints", 60, ("checkpoints", "checkpoints-trash", "checkpoints-default-retention")),
    Tag("Workspaces", 80, ("workspaces", "workspaces-trash")),
)
urlpatterns = [
    *_routes(RepositoryKind.DATASET),
    *_routes(RepositoryKind.CHECKPOINT),
    *(path(route, view.as_view(), name=f"api-{name}") for route, view, name in _FOLDERS),
]
