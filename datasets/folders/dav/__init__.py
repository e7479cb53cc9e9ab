"""WebDAV for workspaces at `/dav/{organization}/{workspace}/`, by the library WsgiDAV.

WsgiDAV parses with lxml if that happens to be installed (sign-in by SAML needs it). Here it always
uses the standard library and defusedxml, which refuses entities.
"""

import sys
from xml.etree.ElementTree import register_namespace

_lxml = sys.modules.get("lxml")
sys.modules["lxml"] = None  # type: ignore[assignment]  # importing it raises ImportError
try:
    import wsgidav.xml_tools  # noqa: F401
finally:
    del sys.modules["lxml"]
    if _lxml is not None:
        sys.modules["lxml"] = _lxml
register_namespace("D", "DAV:")  # the prefix that clients are used to
