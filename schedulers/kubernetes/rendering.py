"""Render the objects of a job as YAML for people, with masked secrets."""

from __future__ import annotations

from portal.core.messages import Message
from schedulers.contract import Launch
from schedulers.kubernetes.pod import KubernetesSettings, Objects, environment

_SECRET = ("TOKEN", "SECRET", "PASSWORD", "KEY")


def rendered(launch: Launch, site: KubernetesSettings, made: Objects, unchecked: str) -> str:
    """Render the objects.

    `unchecked`: why the server-side check was not possible; empty if it passed.
    """
    import yaml

    checked = (
        f"# Not checked by the cluster: {unchecked}"
        if unchecked
        else Message("# The cluster would take it (dry run on the server).")
    )
    name = made.job["metadata"]["name"]
    variables = "\n".join(
        f"{variable}={'••••' if any(part in variable for part in _SECRET) else value}"
        for variable, value in sorted(environment(launch, name, site).items())
    )
    shown = [made.job, *(thing for thing in made.owned if thing["kind"] != "Secret")]
    objects = "---\n".join(
        yaml.safe_dump(thing, sort_keys=False, allow_unicode=True) for thing in shown
    )
    return (
        f"{checked}\n{objects}\n# Secret {name}, the variables:\n{variables}\n\n# "
        f"/muster/given/script:\n{launch.script}"
    )
