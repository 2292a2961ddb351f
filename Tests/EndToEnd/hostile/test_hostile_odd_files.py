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
from harness.read_models import aside, unready, until_ready, read_model, read_model_names
from harness.waiting import wait_until
from test_hostile_read_models import FEW_WORKSPACES, Conversation


def directory(path: pathlib.Path) -> None:
    path.mkdir()
    (path / "note").write_text("somebody's")


ODDITIES = {"fifo": os.mkfifo, "directory": directory, "device": lambda path: path.symlink_to("/dev/null")}


@pytest.fixture(scope="module")
def conversation(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    flags = ("--push-file", folder / "notifications.jsonl")
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


def start_again(conversation) -> str:
    """Starts the server and waits until it is ready with all its data. Returns what it reported in the meantime."""
    begin = len(conversation.server.errors.read_text())
    conversation.server.start()
    until_ready(conversation.server)
    assert seen(conversation) == conversation.expected
    return conversation.server.errors.read_text()[begin:]


@pytest.mark.parametrize("make", ODDITIES.values(), ids=ODDITIES)
@pytest.mark.parametrize("name", [*read_model_names(), "push"])
def test_what_is_not_a_regular_file_is_moved_aside(conversation, name, make):
    file = read_model(conversation.server, name)
    conversation.server.stop()
    remove(file)
    make(file)
    odd = kind(file)
    errors = start_again(conversation)
    assert file.name in errors and "not a regular file" in errors
    assert kind(aside(conversation.server, name)) == odd
    assert kind(file) == stat.S_IFREG


@pytest.mark.parametrize("make", ODDITIES.values(), ids=ODDITIES)
@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_a_companion_that_is_not_a_regular_file_is_moved_aside_too(conversation, suffix, make):
    file = read_model(conversation.server, "rooms")
    conversation.server.stop()
    remove(file, beside="-")
    remove(file, beside=".aside")
    make(file.with_name(file.name + suffix))
    assert file.name + suffix in start_again(conversation)
    assert aside(conversation.server, "rooms").exists()


def test_a_directory_named_aside_does_not_prevent_a_rebuild(conversation):
    """The directory is kept, because it may hold somebody's files. A second damaged file replaces the first one."""
    file = read_model(conversation.server, "rooms")
    remove(file, beside=".aside")
    directory(aside(conversation.server, "rooms"))
    second = file.with_name(f"{file.name}.aside-2")
    for junk in (b"junk" * 4_000, b"waste" * 4_000):
        conversation.server.stop()
        file.write_bytes(junk)
        start_again(conversation)
        assert second.read_bytes() == junk
        assert (aside(conversation.server, "rooms") / "note").exists()
        assert not file.with_name(f"{file.name}.aside-3").exists()


def test_a_mounted_directory_is_reported_until_it_is_unmounted(conversation):
    """Linux does not rename a directory on which a file system is mounted."""
    assert os.geteuid() == 0, "mounting a file system needs root: run the tests as root"
    file = read_model(conversation.server, "rooms")
    conversation.server.stop()
    remove(file)
    file.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", file], check=True)
    try:
        conversation.server.launch()

        def reported() -> str:
            with contextlib.suppress(requests.ConnectionError):
                return unready(conversation.server, f"{file.name} cannot be used, and cannot be moved aside", "Unmount")
            return ""

        detail = wait_until(reported, "the start does not say what it waits for")
        assert str(conversation.server.data) not in detail
        assert requests.get(f"{conversation.server.url}/healthz", timeout=60).status_code == 200
        assert str(file) in conversation.server.tail()
    finally:
        # Without `-l`, a server that still uses the directory would make this fail and hide the original error.
        subprocess.run(["umount", "-l", file], check=True)
    # The empty directory that remains is moved aside like any other.
    until_ready(conversation.server)
    assert seen(conversation) == conversation.expected
    assert kind(aside(conversation.server, "rooms")) == stat.S_IFDIR and kind(file) == stat.S_IFREG


def test_a_server_with_odd_files_stops_on_request_and_its_data_is_intact(conversation):
    files = [read_model(conversation.server, name) for name in read_model_names()]
    conversation.server.stop()
    for file in files:
        remove(file)
        os.mkfifo(file)
    conversation.server.launch()

    def responds() -> bool:
        with contextlib.suppress(requests.ConnectionError):
            return requests.get(f"{conversation.server.url}/healthz", timeout=60).status_code == 200
        return False

    wait_until(responds, "the server does not listen")
    # Fails if the process does not end by itself.
    conversation.server.stop()
    start_again(conversation)
    conversation.server.stop()
    check_data(conversation.server.data)
    conversation.server.start()
