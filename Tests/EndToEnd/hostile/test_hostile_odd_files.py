"""A directory, a FIFO or a device in place of a read model's file: it is moved aside, and the read model is rebuilt."""

import contextlib
import os
import pathlib
import shutil
import stat
import subprocess

import pytest
import requests

from harness.command import check_data
from harness.people import World
from harness.server import Server
from harness.views import aside, unready, until_ready, view, view_names
from harness.waiting import wait_until
from test_hostile_views import FEW_WORKSPACES, Conversation


def directory(path: pathlib.Path) -> None:
    path.mkdir()
    (path / "note").write_text("somebody's")


ODDITIES = {"fifo": os.mkfifo, "directory": directory, "device": lambda path: path.symlink_to("/dev/null")}


@pytest.fixture(scope="module")
def talk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    flags = ("--push-file", folder / "notices.jsonl")
    server = Server(folder / "data", *flags, environment=FEW_WORKSPACES).start()
    conversation = Conversation(World(server))
    conversation.server = server
    conversation.expected = seen(conversation)
    yield conversation
    server.end()


def remove(file: pathlib.Path, beside: str = "") -> None:
    """Removes the file, SQLite's files beside it, and the files that were moved aside. With `beside`, removes only the
    files beside it whose names continue so."""
    for each in list(file.parent.glob(f"{file.name}{beside}*")):
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()


def kind(path: pathlib.Path) -> int:
    return stat.S_IFMT(path.lstat().st_mode)


def seen(conversation) -> dict:
    """What clients see, without positions: if push is on, a start without the outbox's file records an event."""
    def without(value):
        if isinstance(value, dict):
            return {name: without(each) for name, each in value.items() if name != "position"}
        return [without(each) for each in value] if isinstance(value, list) else value

    return without(conversation.seen())


def start_again(talk) -> str:
    """What the server reports until it is ready with everything that it had."""
    begin = len(talk.server.errors.read_text())
    talk.server.start()
    until_ready(talk.server)
    assert seen(talk) == talk.expected
    return talk.server.errors.read_text()[begin:]


@pytest.mark.parametrize("make", ODDITIES.values(), ids=ODDITIES)
@pytest.mark.parametrize("name", [*view_names(), "push"])
def test_what_is_no_file_is_moved_aside(talk, name, make):
    file = view(talk.server, name)
    talk.server.stop()
    remove(file)
    make(file)
    odd = kind(file)
    told = start_again(talk)
    assert file.name in told and "not a regular file" in told
    assert kind(aside(talk.server, name)) == odd
    assert kind(file) == stat.S_IFREG


@pytest.mark.parametrize("make", ODDITIES.values(), ids=ODDITIES)
@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_what_is_no_file_beside_a_file_is_moved_aside_with_it(talk, suffix, make):
    file = view(talk.server, "rooms")
    talk.server.stop()
    remove(file, beside="-")
    remove(file, beside=".aside")
    make(file.with_name(file.name + suffix))
    assert file.name + suffix in start_again(talk)
    assert aside(talk.server, "rooms").exists()


def test_a_directory_named_aside_does_not_prevent_a_rebuild(talk):
    """It is kept: what is in it may be somebody's. A second damaged file takes the place of the first."""
    file = view(talk.server, "rooms")
    remove(file, beside=".aside")
    directory(aside(talk.server, "rooms"))
    second = file.with_name(f"{file.name}.aside-2")
    for junk in (b"junk" * 4_000, b"waste" * 4_000):
        talk.server.stop()
        file.write_bytes(junk)
        start_again(talk)
        assert second.read_bytes() == junk
        assert (aside(talk.server, "rooms") / "note").exists()
        assert not file.with_name(f"{file.name}.aside-3").exists()


def test_a_mounted_directory_is_reported_until_it_is_unmounted(talk):
    """Linux does not rename a directory on which a file system is mounted."""
    assert os.geteuid() == 0, "mounting a file system needs root: run the tests as root"
    file = view(talk.server, "rooms")
    talk.server.stop()
    remove(file)
    file.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", file], check=True)
    try:
        talk.server.launch()

        def reported() -> str:
            with contextlib.suppress(requests.ConnectionError):
                return unready(talk.server, f"{file.name} cannot be used, and cannot be moved aside", "Unmount")
            return ""

        detail = wait_until(reported, "the start does not say what it waits for")
        assert str(talk.server.data) not in detail
        assert requests.get(f"{talk.server.url}/healthz", timeout=60).status_code == 200
        assert str(file) in talk.server.tail()
    finally:
        # Without `-l`, a server that still uses the directory would make this fail and hide the original error.
        subprocess.run(["umount", "-l", file], check=True)
    # The empty directory that is left is moved aside like any other.
    until_ready(talk.server)
    assert seen(talk) == talk.expected
    assert kind(aside(talk.server, "rooms")) == stat.S_IFDIR and kind(file) == stat.S_IFREG


def test_a_server_that_meets_them_ends_when_it_is_told_to_and_its_data_is_whole(talk):
    files = [view(talk.server, name) for name in view_names()]
    talk.server.stop()
    for file in files:
        remove(file)
        os.mkfifo(file)
    talk.server.launch()

    def responds() -> bool:
        with contextlib.suppress(requests.ConnectionError):
            return requests.get(f"{talk.server.url}/healthz", timeout=60).status_code == 200
        return False

    wait_until(responds, "the server does not listen")
    # Fails when the process does not end by itself.
    talk.server.stop()
    start_again(talk)
    talk.server.stop()
    check_data(talk.server.data)
    talk.server.start()
