"""Import of people: spreadsheet formats, preview, atomicity and idempotency."""

from __future__ import annotations

import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.core.errors import InvalidInput, NotPermitted, TooLarge
from portal.core.models import Event
from tests.each import each
from tests.workspaces.services.test_invitations import roles
from workspaces.access.services import create_role
from workspaces.models import Invitation, Membership, User
from workspaces.organizations.people_file import MOST, decoded, read_people
from workspaces.organizations.people_import import import_people
from workspaces.organizations.services import add_member
from workspaces.tenancy.scope import org_scope, platform_scope

EXCEL = (
    "\ufeffE-Mail;Name;Team;Team role\r\nIna@Else.example;Ina "
    "Müller;vision;lead\r\nina@else.example;;speech;\r\n;;;\r\n"
    "ben@atlas.example;;speech;viewer\r\n"
)


def imported(story, text, *, by=None, dry=False, adds=False):
    with org_scope(story.atlas.id):
        return import_people(
            actor=by or story.actor(story.ada), org=story.atlas, text=text, is_dry=dry, adds=adds
        )


def kinds(report) -> dict[str, str]:
    return {step.person.email: step.kind for step in report.steps}


@each("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_people_file_reads_spreadsheet_encodings(encoding):
    text = decoded(EXCEL.removeprefix("\ufeff").encode(encoding))
    people, faults = read_people(text)
    assert [(p.line, p.email, p.name, p.teams) for p in people] == [
        (2, "ina@else.example", "Ina Müller", {"vision": "lead", "speech": "member"}),
        (5, "ben@atlas.example", "", {"speech": "viewer"}),
    ]
    assert faults == []


@each("between", [",", ";", "\t"])
def test_people_file_reads_commas_semicolons_tabs(between):
    people, _ = read_people(
        f"name{between}email{between}team\nIna{between}ina@else.example{between}vision "
        "speech=lead\n"
    )
    assert (people[0].name, people[0].teams) == ("Ina", {"vision": "member", "speech": "lead"})


def test_people_file_skips_excel_separator_line():
    people, _ = read_people("sep=;\r\nemail;name\r\nina@else.example;Ina, the first\r\n")
    assert (people[0].name, people[0].line) == ("Ina, the first", 3)


@each(
    "text",
    [
        "",
        "\n\n",
        "name,role\nIna,member",
        "email,shoe size\na@b.example,44",
        "email,email\na@b.example,x",
        'email\n"open',
    ],
)
def test_people_file_invalid_is_rejected(text):
    with pytest.raises(InvalidInput):
        read_people(text)


def test_people_file_too_large_is_rejected():
    with pytest.raises(TooLarge):
        read_people("email\n" + "".join(f"p{n}@else.example\n" for n in range(MOST + 1)))
    with pytest.raises(TooLarge):
        decoded(b"x" * (1 << 20) + b"x")


def test_import_faults_are_listed_by_line_without_changes(story):
    text = (
        "email,role,team\nina@else.example,,vision\nno "
        "address,,\njan@else.example,emperor,\nkim@else.example,,chess\n"
        "ina@else.example,admin,vision=lead\n"
    )
    report = imported(story, text)
    assert [fault.line for fault in report.faults] == [3, 4, 5, 6]
    assert "emperor" not in kinds(report) and "chess" in report.faults[2].what
    assert not report.is_done and report.made == []
    with platform_scope("test"):
        assert not Invitation.objects.exists()


def test_import_dry_run_reports_same_without_changes(story):
    before = Event.objects.count()
    report = imported(story, EXCEL, dry=True)
    assert kinds(report) == {"ina@else.example": "invited", "ben@atlas.example": "joined"}
    assert not report.is_done and Event.objects.count() == before
    with platform_scope("test"):
        assert not Invitation.objects.exists()


def test_import_invites_new_users_and_adds_members_to_teams(story):
    report = imported(story, EXCEL)
    assert report.is_done and report.counts == {
        "invited": 1,
        "added": 0,
        "joined": 1,
        "unchanged": 0,
        "faults": 0,
    }
    assert roles(story, "ben@atlas.example") == ("member", {"vision": "member", "speech": "viewer"})
    with platform_scope("test"):
        row = Invitation.objects.get()
    assert (row.email, row.name, row.role, len(row.teams)) == (
        "ina@else.example",
        "Ina Müller",
        "member",
        2,
    )


def test_import_500_users_takes_few_queries(story):
    text = "email,team\n" + "\n".join(f"p{n}@else.example,vision" for n in range(500))
    before = Event.objects.count()
    with CaptureQueriesContext(connection) as queries:
        report = imported(story, text)
    assert report.counts["invited"] == 500 and len({one.url for one in report.made}) == 500
    assert Event.objects.count() - before == 501 and len(queries) < 60
    with platform_scope("test"):
        assert Invitation.objects.filter(teams__0__role="member").count() == 500


def test_import_is_idempotent(story):
    imported(story, EXCEL)
    before = Event.objects.count()
    again = imported(story, EXCEL)
    assert set(kinds(again).values()) == {"unchanged"} and again.is_done and again.made == []
    assert Event.objects.count() == before


def test_import_records_event_per_person(story):
    before = Event.objects.count()
    imported(story, EXCEL)
    events = [
        (event.kind, event.data["name"]) for event in Event.objects.order_by("position")[before:]
    ]
    assert events == [
        ("invitation.made", "ina@else.example"),
        ("team_member.added", "speech"),
        ("people.imported", "atlas"),
    ]


def test_import_adds_members_and_ends_their_invitations(story):
    imported(story, "email\nina@else.example")
    report = imported(
        story, "email,role,team\nina@else.example,viewer,vision\njan@else.example,,", adds=True
    )
    assert report.counts["added"] == 2
    assert roles(story, "ina@else.example") == ("viewer", {"vision": "member"})
    with platform_scope("test"):
        assert Invitation.objects.get().revoked_at is not None


def test_import_does_not_change_existing_roles(story):
    report = imported(story, "email,role\nben@atlas.example,admin\nada@atlas.example,member")
    assert set(kinds(report).values()) == {"unchanged"} and all(step.note for step in report.steps)
    assert (
        roles(story, "ben@atlas.example")[0] == "member"
        and roles(story, "ada@atlas.example")[0] == "owner"
    )


def test_import_widens_and_renews_invitations(story):
    first = imported(story, "email,team\nina@else.example,vision")
    wider = imported(story, "email,team\nina@else.example,vision speech=viewer")
    assert kinds(wider) == {"ina@else.example": "joined"} and wider.made == []
    with platform_scope("test"):
        row = Invitation.objects.get()
        assert row.digest == first.made[0].row.digest and {t["role"] for t in row.teams} == {
            "member",
            "viewer",
        }
        Invitation.objects.update(expires_at=row.created_at)
    renewed = imported(story, "email\nina@else.example")
    assert (
        kinds(renewed) == {"ina@else.example": "invited"}
        and renewed.made[0].url != first.made[0].url
    )


def test_import_roles_are_limited_to_actor(story):
    with org_scope(story.atlas.id):
        uma = add_member(
            actor=story.actor(story.ada),
            org=story.atlas,
            email="uma@atlas.example",
            role="user-admin",
        ).user
    report = imported(
        story,
        by=story.actor(uma),
        text=(
            "email,role,team\nina@else.example,owner,\njan@else.example,,vision=lead\numa@atlas.example,,vision\nkim@else.example,,vision"
        ),
    )
    assert [fault.line for fault in report.faults] == [2, 3, 4] and not report.is_done
    with pytest.raises(NotPermitted):
        imported(story, "email\nina@else.example", by=story.actor(story.ben))


def test_import_team_of_other_organization_is_unknown(story):
    report = imported(story, "email,team\nina@else.example,north")
    assert "no team north" in report.faults[0].what


def test_import_page_previews_then_shows_links(story, settings):
    ada = story.client(story.ada)
    file = SimpleUploadedFile("people.csv", EXCEL.encode("utf-8"), content_type="text/csv")
    shown = ada.post("/atlas/people/import", {"file": file, "how": "invite"}).content.decode()
    assert "Preview:" in shown and "Ina Müller" in shown and "/accounts/invitations/" not in shown
    text = shown.partition('<textarea name="text" hidden>')[2].partition("</textarea>")[0]
    done = ada.post(
        "/atlas/people/import",
        {"do": "import", "how": "invite", "text": text.replace("&#x27;", "'")},
    ).content.decode()
    assert done.count("/accounts/invitations/") == 1 and "Import finished." in done


def test_import_page_escapes_markup(story):
    evil = (
        'email,name\n<script>alert(1)</script>,x\nina@else.example,"<img src=x onerror=alert(2)>"'
    )
    for text in (evil, evil.splitlines()[0] + "\n" + evil.splitlines()[2]):
        page = story.client(story.ada).post("/atlas/people/import", {"text": text}).content.decode()
        assert "<script>alert" not in page and "<img src=x" not in page and "&lt;" in page


def test_import_mails_invitations_if_configured(story, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    answer = (
        story.api(story.ada)
        .post(
            "/api/v1/orgs/atlas/people/import",
            {"csv": EXCEL, "send": True},
            content_type="application/json",
        )
        .json()
    )
    assert [link["is_sent"] for link in answer["links"]] == [True] and [
        m.to for m in mail.outbox
    ] == [["ina@else.example"]]


def test_import_claimed_account_gets_no_password_link(story):
    answer = (
        story.api(story.ada)
        .post(
            "/api/v1/orgs/atlas/people/import",
            {"csv": "email\ncyd@borealis.example\nnew@else.example", "add": True},
            content_type="application/json",
        )
        .json()
    )
    assert {link["email"]: "/accounts/invitations/" in link["url"] for link in answer["links"]} == {
        "cyd@borealis.example": True,
        "new@else.example": False,
    }
    with platform_scope("test"):
        assert Membership.objects.filter(user__email="cyd@borealis.example").count() == 1, (
            "she gets an invitation"
        )
    assert not User.objects.get(email="new@else.example").has_usable_password()


def test_import_accepts_custom_roles(story):
    with org_scope(story.atlas.id):
        create_role(
            actor=story.actor(story.ada),
            org=story.atlas,
            slug="helpdesk",
            kind="org",
            permissions=["members:read"],
        )
    assert imported(story, "email,role\nina@else.example,helpdesk").is_done
