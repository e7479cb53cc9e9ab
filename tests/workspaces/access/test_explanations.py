"""The steps of an explanation alone yield the decision, and its proposals work."""

from __future__ import annotations

import json
from typing import Any

import orjson
from hypothesis import given, settings

from tests.each import each
from tests.workspaces.access.worlds import ORG, World, permissions, teams, worlds
from workspaces.access.explanation import as_data, denial_reason, sentences
from workspaces.access.grants import apply, gained, smallest_grants
from workspaces.access.permissions import Permission, org_grants, team_grants
from workspaces.access.steps import AccessQuestion, explained

MANY = settings(deadline=None)
BLOCKING = {
    "account-off",
    "stranger",
    "token-ended",
    "token-elsewhere",
    "token-scope",
    "token-team",
}


def replayed(steps: list[dict[str, Any]], permission: str, own: dict[str, Any]) -> bool:
    """Decide from kinds and facts alone, ignoring the effects in the explanation."""
    is_granted = False
    for step in steps:
        if step["kind"] in BLOCKING or (
            step["kind"] == "suspended" and "operator" not in {s["kind"] for s in steps}
        ):
            return False
        if step["kind"] == "operator":
            is_granted = True
        if step["kind"] in ("org-role", "team-role"):
            table, slug = (
                (org_grants(), team_grants())[step["kind"] == "team-role"],
                step["facts"]["role"],
            )
            grants = table.get(slug) or (
                own[slug].permissions if slug in own and own[slug].kind == step["kind"][:-5] else ()
            )
            is_granted = is_granted or permission in grants
    return is_granted


@MANY
@given(worlds, permissions, teams)
def test_explanation_steps_replayed_match_policy(world: World, permission, team):
    explanation = explained(world.case(permission, team))
    data = json.loads(orjson.dumps(as_data(explanation)))
    assert explanation.allowed == data["allowed"] == world.may(permission, team)
    assert replayed(data["steps"], data["permission"], world.own) == data["allowed"]
    effects = {step["effect"] for step in data["steps"]}
    assert ("grants" in effects and "blocks" not in effects) == data["allowed"]


@MANY
@given(worlds, permissions, teams)
def test_explanation_only_decisive_steps_change_decision(world: World, permission, team):
    steps = as_data(explained(world.case(permission, team)))["steps"]
    decision = replayed(steps, permission, world.own)
    for at, step in enumerate(steps):
        assert (replayed(steps[:at] + steps[at + 1 :], permission, world.own) != decision) == step[
            "is_decisive"
        ]


@MANY
@given(worlds, permissions, teams)
def test_proposal_applied_allows_action(world: World, permission, team):
    case = world.case(permission, team)
    proposals = smallest_grants(case)
    assert bool(proposals) != explained(case).allowed
    for proposal in proposals:
        assert world.after(apply(case, proposal)).may(permission, team)


@MANY
@given(worlds, permissions, teams)
def test_proposal_without_any_step_does_not_allow(world: World, permission, team):
    case = world.case(permission, team)
    for proposal in smallest_grants(case):
        for at in range(len(proposal)):
            assert not world.after(apply(case, proposal[:at] + proposal[at + 1 :])).may(
                permission, team
            )


@MANY
@given(worlds, permissions, teams)
def test_proposal_role_is_minimal(world: World, permission, team):
    from dataclasses import replace

    case = world.case(permission, team)
    others = [replace(case, org_role=role) for role in (*org_grants(), *world.own)]
    others += [
        replace(case, team_role=role)
        for role in (*team_grants(), *world.own)
        if team and case.org_role
    ]
    for proposal in smallest_grants(case):
        ours = gained(case, apply(case, proposal))
        for other in others:
            if world.after(other).may(permission, team) and not gained(other, case):
                assert not gained(case, other) < ours


@MANY
@given(worlds, permissions, teams)
def test_explanation_sentences_have_no_missing_values(world: World, permission, team):
    explanation = explained(world.case(permission, team))
    for text in (*sentences(explanation), denial_reason(explanation)):
        assert text and "%(" not in text and "None" not in text


def test_explanation_denied_submit_proposes_team_role():
    case = AccessQuestion(
        "kim@x", Permission.JOBS_SUBMIT, ORG.id, ORG.id, "vision", org_role="member"
    )
    explanation = explained(case)
    assert [(s.kind, str(s.effect)) for s in explanation.steps] == [
        ("org-role", "silent"),
        ("not-in-team", "silent"),
    ]
    assert as_data(explanation)["would_allow"] == [
        {
            "text": "the role Member in team vision",
            "changes": [{"kind": "team-role", "role": "member"}],
        }
    ]
    assert denial_reason(explanation) == (
        "The role Member in the organization does not grant jobs:submit. kim@x has no role in "
        "team vision."
        " To be allowed: the role Member in team vision."
    )


@each("permission", [Permission.CLUSTERS_WRITE, Permission.AGENT_WRITE])
def test_proposal_operator_permission_requires_operator(permission):
    [proposal] = as_data(explained(AccessQuestion("kim@x", permission, ORG.id, org_role="owner")))[
        "would_allow"
    ]
    assert proposal["changes"] == [{"kind": "operator", "role": None}]


def test_explanation_non_member_reveals_nothing_else():
    data = as_data(
        explained(AccessQuestion("cyd@x", Permission.JOBS_READ, ORG.id, ORG.id, "vision"))
    )
    assert [step["kind"] for step in data["steps"]] == ["stranger", "not-in-team"]
    assert data["steps"][0]["text"] == "cyd@x is not a member of this organization."
