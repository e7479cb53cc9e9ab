"""Call every list of a generated client, and print how many rows each has.

Run by `test_generated_client.py` in an environment of its own: URL, TOKEN, then the names in paths
as JSON.
"""

import importlib
import inspect
import json
import pkgutil
import sys

from generated import api
from generated.client import AuthenticatedClient

url, token, names = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
client = AuthenticatedClient(base_url=url, token=token, raise_on_unexpected_status=True)
found = {}
for module in pkgutil.walk_packages(api.__path__, f"{api.__name__}."):
    call = getattr(importlib.import_module(module.name), "sync_detailed", None)
    if call is None or "Paginated" not in str(inspect.signature(call).return_annotation):
        continue
    taken = inspect.signature(call).parameters
    needed = {name for name, one in taken.items() if one.default is inspect.Parameter.empty}
    needed.discard("client")
    if "body" in taken or not needed <= names.keys():
        continue
    answer = call(**{name: names[name] for name in needed}, client=client)
    parsed = answer.parsed
    rows = getattr(parsed, "items", None)
    found[module.name.rpartition(".")[2]] = [
        int(answer.status_code),
        len(rows) if isinstance(rows, list) else str(getattr(parsed, "detail", parsed)),
    ]
print(json.dumps(found))
