"""WebDAV for workspaces at `/dav/{organization}/{workspace}/`, by the library WsgiDAV."""

import sys
from importlib import import_module

# WsgiDAV takes lxml if it is there, as with SAML. That accepts document types, and refuses the owner
# of a lock that says its encoding. Without it, defusedxml is taken.
_before = sys.modules.get("lxml")
sys.modules["lxml"] = None  # type: ignore[assignment]
try:
    import_module("wsgidav.xml_tools")
finally:
    del sys.modules["lxml"]
    if _before is not None:
        sys.modules["lxml"] = _before
