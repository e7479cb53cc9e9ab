"""Test the contract of all backends (schedulers/contract.py).

Keys are unique, so concurrent suites on one machine do not interfere.
"""

from __future__ import annotations

import multiprocessing
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest

from portal.gateway.provider import Grant, NotServing, Target
from schedulers import backends, capabilities_of
from schedulers.contract import Backend, Capability, LaunchPort, Rejected, ReservationRequest
from schedulers.states import Reason, State
from tests.rig import kube
from tests.rig.gateway import TOKEN, head, until
from tests.rig.podman import IMAGE
from tests.rig.processes import free_port
from tests.rig.web_app import RUN
from tests.schedulers.conftest import MAKERS, backend_of

ONCE = "echo started >> {path}; sleep 0.3; echo done"


def _submit_elsewhere(kind, options, launch, go, handles) -> None:
    go.wait(20)
    handles.put(kind.configured(options).submit(launch))


def test_backends_all_have_a_test_maker():
    offered = {name for name, kind in backends().items() if not getattr(kind, "is_hidden", False)}
    assert offered == {backend_of(maker) for maker in MAKERS}


def test_backend_has_title_and_known_capabilities(stage):
    assert isinstance(stage.backend, Backend) and stage.kind.title
    assert stage.kind.capabilities <= set(Capability)


def test_probe_and_inventory_describe_cluster(stage):
    probe, nodes = stage.backend.probe(), stage.backend.inventory()
    assert probe.is_ok and probe.message
    assert nodes and all(node.cpus > 0 and node.memory > 1 << 20 for node in nodes)
    assert all(node.gpus or node.note for node in nodes)


def test_job_succeeds_and_output_is_kept(stage):
    before, second = datetime.now(UTC), timedelta(seconds=1)
    seen, log = stage.run("echo hello; echo sorry >&2; echo $WORD", env={"WORD": "ä b"})
    assert (seen.state, seen.reason, seen.exit_code) == (State.SUCCEEDED, Reason.COMPLETED, 0)
    assert log == "hello\nsorry\nä b\n".encode()
    assert before - second < seen.started_at <= seen.finished_at < datetime.now(UTC) + second


def test_submission_folder_of_sbatch_is_the_first_folder_of_the_job(stage):
    _, log = stage.run(
        '[ "$SLURM_SUBMIT_DIR" = "$PWD" ] && echo same; echo "$SLURM_GPUS"', env={"SLURM_GPUS": "2"}
    )
    assert log == b"same\n2\n"


def test_programs_are_delivered_with_launch(stage):
    seen, log = stage.run('cat "$MUSTER_PROGRAMS/it.py"', programs={"it.py": b"print(1)\n"})
    assert (seen.reason, log) == (Reason.COMPLETED, b"print(1)\n")


SECRET = "s3cr3t of $HOME `id` 'and' \"more\"\\n\nsecond line ä"


def printed_secret_path(stage, key: str) -> Path:
    """Return the path of the secret file as printed by the job."""
    stage.logged(key, b"at ")
    return Path(stage.log(key).decode().partition("at ")[2].split("\n")[0])


def test_secret_file_is_complete_and_private_to_job_user(stage):
    seen, log = stage.run(
        'cat "$KEY_FILE"; echo; cat "$KEY_FILE" > /dev/null; stat -L -c "%a %u" "$KEY_FILE"; id '
        "-u; env | grep -c s3cr3t; true",
        secret_files={"KEY": SECRET, "OTHER": "another"},
    )
    assert log.decode().startswith(f"{SECRET}\n") and seen.reason == Reason.COMPLETED, log
    mode, owner, user, count = log.decode().removeprefix(SECRET).split()
    assert (mode, owner, count) == ("400", user, "0") or (
        "kubernetes" in stage.backend.name and (mode, count) == ("440", "0")
    )


@pytest.mark.parametrize(
    "script", ["sleep 0.5", "trap '' TERM; sleep 60 & while true; do sleep 0.1; done"]
)
def test_secret_file_is_removed_however_job_ends(stage, script):
    key = stage.submit(f'echo "at $KEY_FILE"; {script}', secret_files={"KEY": SECRET}).key
    path = printed_secret_path(stage, key)
    if "trap" in script:
        stage.backend.cancel(key, 0.5)
    seen = stage.ended(key)
    # the killed process may be starting another `sleep`
    assert "trap" in script or "left behind" not in seen.evidence
    stage.wait_for(lambda: not path.exists(), 10)
    assert not [
        one
        for one in Path("/dev/shm").rglob("*")
        if key in one.name or one.name.startswith(".muster.")
    ]
    assert not [
        one for one in stage.path.rglob("*") if one.is_file() and b"s3cr3t" in one.read_bytes()
    ], "nor in what tells of the job"


def test_secret_file_exists_until_job_has_shut_down(stage):
    key = stage.submit(
        'trap \'cat "$KEY_FILE"; exit 0\' TERM; echo "at $KEY_FILE"; while true; do sleep 0.05; '
        "done",
        secret_files={"KEY": SECRET},
    ).key
    printed_secret_path(stage, key)
    stage.backend.cancel(key, 20)
    stage.ended(key, 10)
    assert SECRET in stage.log(key).decode()


def test_job_environment_excludes_portal_variables(stage, monkeypatch):
    monkeypatch.setenv("MUSTER_SECRET_KEY", "sesame")
    assert b"sesame" not in stage.run("env")[1]


def test_submit_same_key_twice_starts_one_job(stage):
    launch = stage.launch(ONCE.format(path=stage.path / "starts"))
    first, second = stage.backend.submit(launch), stage.backend.submit(launch)
    assert first == second and first.native_id
    stage.ended(launch.key)
    assert stage.backend.submit(launch).key == launch.key
    stage.ended(launch.key)
    assert (stage.path / "starts").read_text() == "started\n"


def test_submit_same_key_from_threads_starts_one_job(stage):
    launch = stage.launch(ONCE.format(path=stage.path / "starts"))
    with ThreadPoolExecutor(6) as pool:
        handles = set(pool.map(lambda _: stage.again().submit(launch), range(6)))
    stage.ended(launch.key)
    assert len(handles) == 1
    assert (stage.path / "starts").read_text() == "started\n"


def test_submit_same_key_from_processes_starts_one_job(stage):
    launch, context = (
        stage.launch(ONCE.format(path=stage.path / "starts")),
        multiprocessing.get_context("fork"),
    )
    go, handles = context.Event(), context.Queue()
    arguments = (stage.kind, stage.options, launch, go, handles)
    processes = [context.Process(target=_submit_elsewhere, args=arguments) for _ in range(5)]
    for process in processes:
        process.start()
    go.set()
    got = {handles.get(timeout=20) for _ in processes}
    for process in processes:
        process.join(20)
    stage.ended(launch.key)
    assert len(got) == 1
    assert (stage.path / "starts").read_text() == "started\n"


def test_find_returns_running_and_finished_attempt(stage):
    handle = stage.submit("sleep 0.5")
    assert stage.backend.find(handle.key) == handle
    stage.ended(handle.key)
    assert stage.backend.find(handle.key) == handle


def test_unknown_key_is_missing_everywhere(stage):
    assert stage.backend.find("t-never") is None
    poll = stage.backend.poll(["t-never"])
    assert (list(poll.observations), list(poll.missing)) == ([], ["t-never"])
    assert stage.backend.read_log("t-never", 0).data == b""
    stage.backend.cancel("t-never")
    stage.backend.forget("t-never")


def test_poll_returns_all_requested_keys(stage):
    running, done = stage.submit("sleep 30").key, stage.submit("exit 4").key
    stage.ended(done)
    stage.wait_for(lambda: stage.look(running).state == State.RUNNING)
    poll = stage.backend.poll([running, done, "t-never"])
    assert {o.key: (o.state, o.reason) for o in poll.observations} == {
        running: (State.RUNNING, None),
        done: (State.FAILED, Reason.USER_ERROR),
    }
    assert list(poll.missing) == ["t-never"]


def test_path_like_key_is_rejected(subtests, stage):
    for key in ["../escape", "a/b", "", "x" * 101, "a\0b"]:
        with subtests.test(key=key):
            with pytest.raises(Rejected):
                stage.backend.find(key)


def test_exit_code_is_reported_unchanged(subtests, stage):
    for code in [1, 2, 17, 125, 255]:
        with subtests.test(code=code):
            seen, _ = stage.run(f"echo last words; exit {code}")
            assert (seen.state, seen.reason, seen.exit_code) == (
                State.FAILED,
                Reason.USER_ERROR,
                code,
            )
            assert "last words" in seen.evidence


def test_evidence_quotes_program_output(stage):
    seen, _ = stage.run("python3 -c 'raise ValueError(\"shape mismatch\")'")
    assert "ValueError: shape mismatch" in seen.evidence


def test_missing_command_is_named(stage):
    seen, _ = stage.run("set -e\nno-such-program --now")
    assert (seen.reason, seen.exit_code) == (Reason.COMMAND_NOT_FOUND, 127)
    assert "no-such-program: command not found" in seen.evidence


def test_non_executable_file_is_reported(stage):
    (stage.path / "plain").write_text("text")
    seen, _ = stage.run(str(stage.path / "plain"))
    assert (seen.reason, seen.exit_code) == (Reason.NOT_EXECUTABLE, 126)


def test_job_killed_by_signal_reports_signal(stage):
    seen, _ = stage.run("kill -SEGV $$")
    assert (seen.state, seen.reason, seen.signal) == (State.FAILED, Reason.KILLED_BY_SIGNAL, 11)
    assert "SIGSEGV" in seen.evidence


def test_cancel_sends_sigterm_first(stage):
    key = stage.submit(
        "trap 'echo bye; exit 0' TERM; echo ready; while true; do sleep 0.05; done"
    ).key
    stage.logged(key, b"ready")
    stage.backend.cancel(key, 20)
    stage.ended(key, 10)
    assert stage.log(key).endswith(b"bye\n")


def test_job_ended_by_sigterm_is_canceled(stage):
    key = stage.submit("echo ready; sleep 60").key
    stage.logged(key, b"ready")
    stage.backend.cancel(key, 20)
    seen = stage.ended(key, 10)
    assert (seen.state, seen.reason) == (State.CANCELED, Reason.CANCELED)


def test_job_ignoring_sigterm_is_killed_after_grace(stage):
    key = stage.submit("trap '' TERM; echo ready; while true; do sleep 0.05; done").key
    stage.logged(key, b"ready")
    stage.backend.cancel(key, 1)
    assert stage.look(key).state == State.STOPPING
    seen = stage.ended(key, 10)
    assert (seen.state, seen.reason) == (State.CANCELED, Reason.CANCELED)
    assert seen.finished_at - seen.started_at >= timedelta(seconds=0.9)
    assert stage.wait_for(lambda: not _processes_of(key))


def test_cancel_stops_child_processes(stage):
    key = stage.submit("sleep 61 & sleep 62 & (sleep 63; true) & echo ready; wait").key
    stage.logged(key, b"ready")
    stage.backend.cancel(key, 5)
    stage.ended(key, 10)
    assert stage.wait_for(lambda: not _processes_of(key))


def test_cancel_twice_or_after_end_changes_nothing(stage):
    key = stage.submit("exit 3").key
    first = stage.ended(key)
    stage.backend.cancel(key, 0)
    stage.backend.cancel(key, 0)
    assert stage.look(key) == first and first.reason == Reason.USER_ERROR


def test_job_over_time_limit_is_stopped_with_reason(stage):
    seen, _ = stage.run("sleep 60", time_limit=1.0)
    assert (seen.state, seen.reason) == (State.FAILED, Reason.TIME_LIMIT)
    assert "limit of 1 s" in seen.evidence
    assert timedelta(seconds=0.9) < seen.finished_at - seen.started_at < timedelta(seconds=10)


def test_time_limit_of_a_running_job_is_raised(stage):
    if Capability.TIME_LIMIT not in stage.kind.capabilities:
        assert not hasattr(stage.backend, "set_time_limit")
        return
    key = stage.submit("sleep 1.7", time_limit=1.2).key
    stage.wait_for(lambda: stage.look(key).state == State.RUNNING)
    if stage.options.get("rest_url"):  # its user there is no operator of Slurm
        with pytest.raises(Rejected, match="AdminLevel=Operator"):
            stage.backend.set_time_limit(key, 62, 1)
        return
    stage.backend.set_time_limit(key, 62, 1)
    assert stage.ended(key).state == State.SUCCEEDED
    with pytest.raises(Rejected):
        stage.backend.set_time_limit(key, 122, 1)


def test_job_over_memory_limit_is_out_of_memory(stage):
    script = "exec python3 -c \"import time; x = b'x' * (200 << 20); time.sleep(60)\""
    seen, _ = stage.run(script, memory=64 << 20)
    assert (seen.state, seen.reason) == (State.FAILED, Reason.OUT_OF_MEMORY)
    assert "of 64 MiB" in seen.evidence and seen.peak_memory >= 64 << 20


def test_read_log_reads_from_offset(stage):
    key = stage.submit("printf 0123456789").key
    stage.ended(key)
    read = partial(stage.backend.read_log, key)
    assert [read(0).data, read(4).data, read(4, 3).data] == [b"0123456789", b"456789", b"456"]
    assert [read(10).data, read(99).data] == [b"", b""]
    assert read(4, 3).start == 4 and abs(read(0).at / 1000 - datetime.now(UTC).timestamp()) < 60


def test_read_log_returns_any_bytes_unchanged(stage):
    path = stage.path / "noise"
    path.write_bytes(noise := bytes(range(256)) * 5000 + b"\r\xff\xfe\0no newline")
    seen, log = stage.run(f"cat {path}")
    assert seen.reason == Reason.COMPLETED and log == noise


def test_new_backend_object_adopts_running_jobs(stage):
    key = stage.submit("echo one; sleep 0.7; echo two; exit 5").key
    stage.logged(key, b"one")
    other = stage.again()
    assert other.find(key) == stage.backend.find(key)
    assert stage.look(key, other).state == State.RUNNING
    seen = stage.ended(key, backend=other)
    assert seen.exit_code == 5 and stage.log(key) == b"one\ntwo\n"


def test_forget_removes_finished_attempts_only(stage):
    running, done = stage.submit("sleep 30").key, stage.submit("true").key
    stage.ended(done)
    stage.backend.forget(done)
    stage.backend.forget(running)
    assert stage.backend.find(done) is None
    assert stage.backend.find(running) is not None


def test_reservation_is_made_once_used_changed_and_ended(stage):
    if Capability.RESERVATIONS not in capabilities_of(stage.kind.name, lambda: stage.options):
        with pytest.raises((AttributeError, Rejected)):  # it keeps nothing for single teams
            stage.backend.reservations("muster-")
        return
    nodes = tuple(node.name for node in stage.backend.inventory())
    prefix, end = f"muster-{uuid4().hex[:8]}-", datetime.now(UTC) + timedelta(days=1)
    first = ReservationRequest(f"{prefix}1", "h100", 1, end, nodes[:1], "atlas", "vision")
    if "rest_url" in stage.options:  # Debian's slurmrestd is older than reservations over REST
        with pytest.raises(Rejected, match=r"v0\.0\.43"):
            stage.backend.plan_reservation(first)
        return
    assert first.name in stage.backend.plan_reservation(first)
    try:
        for _ in range(2):
            stage.backend.reserve(first)
        [seen] = stage.again().reservations(prefix)
        assert (seen.name, seen.nodes) == (first.name, nodes[:1])
        assert stage.run("true", reservation=first.name)[0].reason == Reason.COMPLETED
        stage.backend.reserve(replace(first, nodes=nodes[-1:], ends_at=end + timedelta(days=1)))
        [seen] = stage.backend.reservations(prefix)
        assert seen.nodes == nodes[-1:]
        assert seen.ends_at is None or seen.ends_at > end
    finally:
        for _ in range(2):
            stage.backend.unreserve(first.name)
    assert stage.backend.reservations(prefix) == []
    with pytest.raises(Rejected):
        stage.backend.reserve(replace(first, nodes=("no-such-node",)))


def test_render_shows_script_and_masks_secrets(stage):
    text = stage.backend.render(
        stage.launch("echo hi", env={"PLAIN": "seen", "API_TOKEN": "sesame"})
    )
    assert "echo hi" in text and "PLAIN=seen" in text and "sesame" not in text


def _processes_of(key: str) -> list[str]:
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and _is_of(pid, key)]


def _is_of(pid: str, key: str) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return key.encode() in file.read()
    except OSError:
        return False


def test_port_of_a_running_job_is_reached_through_the_gateway(stage, serving):
    """Any backend: by an address, by a connection of its own, or by the tunnel of the job."""
    assert Capability.ENDPOINTS in stage.kind.capabilities
    gateway, _app = serving(host=kube.portal_address())
    is_served_through(gateway, stage)


@pytest.mark.parametrize(
    "stage",
    ["kubernetes-tunnel", pytest.param("local-tunnel", marks=pytest.mark.integration)],
    indirect=True,
)
def test_port_is_reached_by_the_tunnel_of_a_job_where_nothing_else_leads(stage, serving, request):
    if stage.backend.name == "local":
        gateway, _app = serving(host=request.getfixturevalue("own_network")[1])
        is_served_through(gateway, stage, image=IMAGE)
    else:
        gateway, _app = serving(host=kube.portal_address())
        is_served_through(gateway, stage)


def is_served_through(gateway, stage, **more) -> None:
    """Run a web app as a job and use it: pages, a websocket, other ports, and after its end."""
    asked, backend = gateway.asked, stage.backend
    port, other = free_port(), free_port()
    launch = stage.launch(
        RUN,
        ports=(LaunchPort("web", port),),
        gateway_url="http://{}:{}".format(*gateway.address),
        env={"MUSTER_TOKEN": TOKEN, "MUSTER_PORT_WEB": str(port)},
        **more,
    )
    key = backend.submit(launch).key
    asked.port, asked.key = port, key

    def locate(grant: Grant) -> Target:
        try:
            found = backend.endpoint(grant.key, grant.port)
        except Rejected as error:
            raise NotServing(str(error)) from error
        return Target(found.host, found.port, found.connect)

    asked.locate = locate
    stage.logged(key, b"serving", 30)
    assert stage.wait_for(lambda: b"hello from the job" in gateway.say("Connection: close"), 30)
    first = "GET /_apps/atlas/7/web/ws HTTP/1.1"
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: a")
    with closing(gateway.connect()) as sock:
        sock.sendall(head(*upgrade, first=first))
        assert b" 101 " in until(sock, b"\r\n\r\n")
        sock.sendall(b"\x81\x82abcd" + bytes(a ^ b for a, b in zip(b"hi", b"ab", strict=True)))
        assert until(sock, b"hi") == b"\x81\x02hi"
    with socket.create_server(("127.0.0.1", other)):
        asked.port = other
        assert b" 502 " in gateway.say("Connection: close")[:16], "not a port of the job"
    backend.cancel(key, 0)
    stage.ended(key)
    asked.port = port
    assert b" 50" in gateway.say("Connection: close")[:16]
