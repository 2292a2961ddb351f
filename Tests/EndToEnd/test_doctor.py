"""`hansard doctor` finds what is wrong with settings, data, machine and services, and says what to do."""

import json
import os
import pathlib
import re
import resource
import shutil
import socket
import subprocess

import pytest

from harness import certificates
from harness.command import hansard
from harness.issuer import Issuer, Key
from harness.people import World
from harness.places import hansard_binary
from harness.push_phones import PushServices
from harness.server import Server
from harness.shifted_clock import DAY, ShiftedClock

# The process of a test may have few open files.
FEW = {"connections": {"maximum": 16}}


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """A data directory whose server is stopped."""
    server = Server(tmp_path_factory.mktemp("grown") / "data").start()
    World(server).user("Anna")
    server.stop()
    return server.data


@pytest.fixture
def data(grown, tmp_path):
    return shutil.copytree(grown, tmp_path / "data")


def doctor(data, settings=None, *flags, expect: int) -> str:
    file = data.parent / "settings.json"
    file.write_text(json.dumps(FEW | (settings or {})))
    free = () if "--listen" in flags else ("--listen", "127.0.0.1:0")
    return hansard("doctor", "--data", data, "--config", file, *free, *flags, expect=expect).text


def problems(text: str) -> list[str]:
    return re.findall(r"^problem +(.*)$", text, re.MULTILINE)


def problem(text: str) -> str:
    (found,) = problems(text)
    return re.sub(" +", " ", found)


def test_nothing_is_wrong_with_a_new_and_a_used_directory(tmp_path, data):
    before = {path: path.stat().st_mtime_ns for path in data.rglob("*")}
    for said in (doctor(tmp_path / "missing", expect=0), doctor(data, expect=0)):
        assert not problems(said)
        assert {line.split()[1] for line in said.splitlines()} >= {"settings", "data", "disk", "address", "files", "push"}
    assert not (tmp_path / "missing").exists()
    assert {path: path.stat().st_mtime_ns for path in data.rglob("*")} == before


def test_it_works_beside_a_running_server(data):
    server = Server(data).start()
    try:
        said = doctor(data, None, "--listen", f"127.0.0.1:{server.port}", expect=0)
        assert "a server uses it" in said and not problems(said)
    finally:
        server.end()


def test_settings_and_the_address_are_checked(data, monkeypatch):
    monkeypatch.setenv("HANSARD_LISTN", "x")
    said = problems(doctor(data, {"nonsense": 1}, expect=1))
    assert len(said) == 2 and "unknown setting nonsense" in said[0] and "HANSARD_LISTEN" in said[1]
    monkeypatch.delenv("HANSARD_LISTN")
    with socket.create_server(("127.0.0.1", 0)) as other:
        used = f"127.0.0.1:{other.getsockname()[1]}"
        said = problem(doctor(data, None, "--listen", used, expect=1))
        assert f"cannot listen on {used}" in said and "another process uses the port" in said


@pytest.mark.parametrize("name", ["hansard.key", "checkpoint.key", "admin-token"])
def test_keys_and_their_modes_are_checked(data, name):
    (data / name).chmod(0o644)
    said = problem(doctor(data, expect=1))
    assert f"other users can open {data / name}, which has the mode 644" in said and "chmod go-rwx" in said


def test_missing_and_foreign_keys_are_found(data, tmp_path):
    (data / "checkpoint.key").unlink()
    assert "checkpoint.key is missing, so no segment is sealed" in problem(doctor(data, expect=1))
    (data / "hansard.key").unlink()
    said = problems(doctor(data, expect=1))
    assert len(said) == 2 and "hansard.key is missing although the log has events" in said[0]


def test_the_directory_and_the_log_are_checked(data):
    data.chmod(0o755)
    assert f"chmod 700 {data}" in problem(doctor(data, expect=1))
    data.chmod(0o700)
    (data / "log" / "superblock").write_bytes(b"\0" * 8192)
    assert "log_corrupt" in problem(doctor(data, expect=1))


def test_a_clock_that_is_behind_is_found(data, tmp_path, monkeypatch):
    clock = ShiftedClock(tmp_path)
    for name, value in clock.environment.items():
        monkeypatch.setenv(name, value)
    clock.shift(-DAY)
    said = problem(doctor(data, expect=1))
    assert re.search(r"the system clock is 8\d{4} seconds behind the last event", said)


def test_open_files_are_checked(data):
    file = data.parent / "settings.json"
    file.write_text(json.dumps({"connections": {"maximum": 5000}}))

    def fewer():
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))

    done = subprocess.run(
        [hansard_binary(), "doctor", "--data", data, "--config", file, "--listen", "127.0.0.1:0"],
        capture_output=True, text=True, preexec_fn=fewer, timeout=60)
    assert done.returncode == 1
    assert "only 1024 files can be open, which allows 576 of 5000 connections" in problem(done.stdout)


@pytest.fixture
def full_disk(tmp_path):
    assert os.geteuid() == 0, "mounting a small file system needs root: run the tests as root"
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100m", "tmpfs", place], check=True)
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_disk_that_is_almost_full_is_found(data, full_disk):
    shutil.copytree(data / "log", full_disk / "log")
    shutil.rmtree(data / "log")
    (data / "log").symlink_to(full_disk / "log")
    said = problem(doctor(data, expect=1))
    assert f"{data / 'log'} has only " in said and "free some space, at least 256.0 MiB" in said


def test_issuers_are_asked_for_their_keys(data):
    issuer = Issuer(Key("RS256", "r1"))
    try:
        settings = {"identity": {"providers": {"local": issuer.settings()}}}
        assert "publishes keys that can be used" in doctor(data, settings, expect=0)
        settings["identity"]["providers"]["local"]["algorithms"] = ["EdDSA"]
        assert "has no key for EdDSA" in problem(doctor(data, settings, expect=1))
    finally:
        issuer.close()
    assert "its keys cannot be read from" in problem(doctor(data, settings, expect=1))


def test_a_certificate_is_checked(data, tmp_path):
    made = certificates.make(tmp_path / "tls")
    made.key.chmod(0o604)
    settings = {"tls": {"certificateFile": str(made.certificate), "keyFile": str(made.key)}}
    readable, expiring = problems(doctor(data, settings, expect=1))
    assert f"other users can open {made.key}, which has the mode 604" in readable
    # The certificates of the tests are valid for seven days.
    assert any(f"the certificate in {made.certificate} expires in {left} days. renew it" in expiring for left in (6, 7))


def test_push_credentials_are_tried(data, services: PushServices):
    settings = services.settings()
    said = doctor(data, settings, expect=0)
    assert "apns accepts the credentials" in said and "fcm accepts the credentials" in said


def test_push_credentials_that_are_refused_are_found(data, services: PushServices):
    services.apns.respond = lambda push: "TopicDisallowed"
    services.fcm.respond = lambda push: services.fcm.denied()
    settings = services.settings()
    apns, fcm = problems(doctor(data, settings, expect=1))
    assert "apns cannot be used" in apns and "fcm cannot be used" in fcm
    services.apns.respond = services.fcm.respond = lambda push: None
    services.expect_restart()
    pathlib.Path(settings["push"]["apns"]["keyFile"]).chmod(0o604)
    assert "other users can open" in problem(doctor(data, settings, expect=1))


def test_push_providers_that_cannot_be_reached_are_found(data, services: PushServices):
    # Nothing listens there.
    settings = services.settings(apns={"productionURL": "https://127.0.0.1:9"}, fcm=None, webPush=None)
    assert "apns cannot be used" in problem(doctor(data, settings, expect=1))
