"""WebDAV for workspaces at `/dav/{organization}/{workspace}/`, by the library WsgiDAV."""
