"""A forger changes logs of the real executable. `hansard log verify` and Tools/verify_log.py both detect it."""

import dataclasses
import os
import random
import shutil

import pytest

from harness.command import hansard, stat
from harness.note_signer import NoteSigner
from harness.real_log import Growing, copy_data, leaves_of, seal, rewrite_log
from harness.verifying import verify  # noqa: F401 (fixture)

ANOTHER_SEED = bytes(32)
FLIPS = 70
MESSAGE_SENT = 130


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """Two sealed segments, and an active one with several blocks."""
    growing = Growing(tmp_path_factory.mktemp("grown")).fill()
    seal(growing.data)
    growing.send_messages(12)
    growing.keep("first")
    growing.backup = copy_data(growing.data, growing.folder / "backup")
    seal(growing.data)
    growing.send_messages(15)
    growing.keep("now")
    return growing


@pytest.fixture
def data(grown, tmp_path):
    return copy_data(grown.data, tmp_path / "data")


def names(data, suffix: str) -> list[str]:
    return sorted(path.name for path in (data / "log").glob(f"*{suffix}"))


# Edits of a sealed segment, of an active one, and at the boundary between them


def edited(index: int):
    def change(events: list) -> list:
        assert events[index].kind == MESSAGE_SENT and b"message" in events[index].payload
        payload = events[index].payload.replace(b"message", b"MESSAGE")
        return [*events[:index], dataclasses.replace(events[index], payload=payload), *events[index + 1 :]]
    return change


def author_changed(index: int):
    def change(events: list) -> list:
        other = next(event.actor for event in events if event.actor not in (None, events[index].actor))
        return [*events[:index], dataclasses.replace(events[index], actor=other), *events[index + 1 :]]
    return change


def exchanged(index: int):
    def change(events: list) -> list:
        one, two = events[index], events[index - 1]
        return [*events[: index - 1], dataclasses.replace(one, time=two.time), dataclasses.replace(two, time=one.time),
                *events[index + 1 :]]
    return change


def deleted(index: int):
    return lambda events: events[:index] + events[index + 1 :]


def inserted(index: int):
    return lambda events: [*events[:index], events[index], *events[index:]]


CHANGES = [edited, author_changed, exchanged, deleted, inserted]
# Offsets from the end of the log: a message from Anna in the first segment, in the second and in the active one.
PLACES = {"first": -35, "second": -20, "active": -5}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_is_seen_by_the_heads(grown, tmp_path, kind, place, verify):
    """The forger recreates everything. With the signing key, only a tree head saved elsewhere reveals it. Without the
    key, the stored tree heads reveal it."""
    data = tmp_path / "data"
    rewrite_log(grown.data, data, lambda events: kind(len(events) + PLACES[place])(events))
    assert verify("--data", data, "--key", grown.key).status == 0
    outcome = verify("--data", data, "--key", grown.key, "--checkpoint", grown.heads["now"])
    assert outcome.status == 1 and outcome.result["file"] == str(grown.heads["now"])
    for name in names(grown.data, ".checkpoint"):
        shutil.copy(grown.data / "log" / name, data / "log" / name)
    outcome = verify("--data", data, "--key", grown.key)
    # After the last seal nothing is signed, so only a saved tree head can reveal a change there.
    assert outcome.status == (0 if place == "active" else 1)
    assert place == "active" or outcome.result["file"].endswith(".checkpoint"), outcome.errors


@pytest.mark.parametrize("kind, place", [
    *((kind, "first") for kind in CHANGES), (edited, "second"), (edited, "active"),
])
def test_a_change_does_not_fit_the_tree_that_was_there(grown, tmp_path, kind, place, verify):
    """The forger recreates everything except the tree: peaks, nodes and tree heads are those of the original log."""
    data, tree = tmp_path / "data", leaves_of(grown.data)
    rewrite_log(grown.data, data, lambda events: kind(len(events) + PLACES[place])(events), tree=tree)
    outcome = verify("--data", data, "--key", grown.key)
    assert outcome.status == (0 if place == "active" else 1)


@pytest.mark.parametrize("place", PLACES)
def test_a_time_that_goes_back_is_damage(grown, tmp_path, place, verify):
    def change(events: list) -> list:
        index = len(events) + PLACES[place]
        time = events[index - 1].time - 1
        return [*events[:index], dataclasses.replace(events[index], time=time), *events[index + 1 :]]

    rewrite_log(grown.data, tmp_path / "data", change)
    outcome = verify("--data", tmp_path / "data")
    assert outcome.status == 1 and "time" in outcome.errors and outcome.executable.errors.count("recorded time") == 1


def test_the_forger_writes_what_the_executable_accepts(grown, tmp_path, verify):
    """Checks that valid forgeries pass, so that the tests below do not detect mere mistakes of the forger."""
    writer = rewrite_log(grown.data, tmp_path / "data")
    for name in ("first", "now"):
        outcome = verify("--data", tmp_path / "data", "--checkpoint", grown.heads[name], "--key", grown.key)
        assert outcome.status == 0, outcome.errors
    assert writer.head(len(writer.events)) == grown.heads["now"].read_text()
    for name in names(grown.data, ".checkpoint"):
        of_both = [(data / "log" / name).read_text() for data in (grown.data, tmp_path / "data")]
        assert of_both[0] == of_both[1]


def test_a_replaced_key_is_detected_with_the_trusted_key(grown, tmp_path, verify):
    data, signer = tmp_path / "data", NoteSigner(grown.key.split("+")[0], ANOTHER_SEED)
    rewrite_log(grown.data, data, lambda events: edited(len(events) - 20)(events), seed=ANOTHER_SEED)
    assert (data / "checkpoint.pub").read_text().strip() == signer.verifier_key() != grown.key
    assert verify("--data", data).status == 0, "without the right key nothing can be seen"
    assert verify("--data", data, "--key", grown.key).status == 1
    assert verify("--data", data, "--key", grown.key, "--checkpoint", grown.heads["now"]).status == 1
    assert verify("--data", data, "--checkpoint", grown.heads["now"]).status == 1


def test_only_the_key_is_replaced(data, grown, verify):
    signer = NoteSigner(grown.key.split("+")[0], ANOTHER_SEED)
    (data / "checkpoint.pub").write_text(signer.verifier_key() + "\n")
    outcome = verify("--data", data)
    assert outcome.status == 1 and outcome.result["file"] == names(data, ".checkpoint")[0]
    assert names(data, ".checkpoint")[0] in outcome.executable.errors


# Rollbacks


@pytest.mark.parametrize("count", [1, 10, 30, 2000])
def test_a_rollback_below_a_kept_head_is_seen(grown, tmp_path, count, verify):
    data = tmp_path / "data"
    rewrite_log(grown.data, data, lambda events: events[:-count])
    outcome = verify("--data", data, "--checkpoint", grown.heads["now"], "--key", grown.key)
    assert outcome.status == 1 and "rolled back" in outcome.errors


def test_a_backup_put_back_is_a_rollback(grown, verify):
    """Nothing is forged: the log is an earlier backup."""
    assert verify("--data", grown.backup, "--checkpoint", grown.heads["first"]).status == 0
    outcome = verify("--data", grown.backup, "--checkpoint", grown.heads["now"])
    assert outcome.status == 1 and "rolled back" in outcome.errors


# Files


def exchange_files(data, one: str, other: str) -> None:
    one, other = data / "log" / one, data / "log" / other
    aside = one.with_suffix(".aside")
    os.rename(one, aside)
    os.rename(other, one)
    os.rename(aside, other)


@pytest.mark.parametrize("pair", [(0, 1), (1, 2), (0, 2)])
def test_segments_that_changed_places_are_seen(data, pair, verify):
    segments = names(data, ".seg")
    exchange_files(data, *(segments[number] for number in pair))
    outcome = verify("--data", data)
    assert outcome.status == 1 and outcome.result["file"] in segments


def test_heads_that_changed_places_are_seen(data, verify):
    heads = names(data, ".checkpoint")
    exchange_files(data, *heads)
    outcome = verify("--data", data)
    file = outcome.result["file"]
    assert outcome.status == 1 and file in heads and file in outcome.executable.errors


def test_a_removed_head_is_seen(data, verify):
    first, last = names(data, ".checkpoint")
    (data / "log" / first).unlink()
    outcome = verify("--data", data)
    assert outcome.status == 1 and outcome.result["file"] == first and first in outcome.executable.errors


def test_the_next_seal_signs_a_head_that_lacks(data, grown, verify):
    """The last tree head may be missing, because a crash may come before it is signed."""
    last = names(data, ".checkpoint")[-1]
    text = (data / "log" / last).read_text()
    (data / "log" / last).unlink()
    assert verify("--data", data).status == 0
    seal(data)
    assert (data / "log" / last).read_text() == text
    assert verify("--data", data, "--checkpoint", grown.heads["now"]).result["notes"] == []


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_removed_segment_is_seen(data, number, verify):
    (data / "log" / names(data, ".seg")[number]).unlink()
    assert verify("--data", data).status == 1


def test_a_segment_of_another_log_is_seen(data, tmp_path, verify):
    other = Growing(tmp_path / "other").fill()
    seal(other.data)
    first = names(data, ".seg")[0]
    shutil.copy(other.data / "log" / first, data / "log" / first)
    outcome = verify("--data", data)
    assert outcome.status == 1 and outcome.result["file"] == first


# Random bit flips


def test_no_flipped_bit_of_a_sealed_file_goes_unnoticed(data, verify):
    """Flips bits at random places and at the edges. Every byte of a sealed file has a meaning."""
    chance, first = random.Random(17), data / "log" / names(data, ".seg")[0]
    content = first.read_bytes()
    edges = [0, 8, 12, 16, 32, 40, 48, 56, 60, 2112, 2120, 2128, 2239, 2240, 4095, 4096, 4160, len(content) - 1]
    for number, offset in enumerate(edges + [chance.randrange(len(content)) for _ in range(FLIPS)]):
        with first.open("r+b") as file:
            file.seek(offset)
            file.write(bytes([content[offset] ^ 1 << chance.randrange(8)]))
            file.flush()
            # The script takes much longer than the executable, so it checks every eighth flip.
            if number % 8 == 0:
                outcome = verify("--data", data)
                assert outcome.status == 1 and outcome.result["file"] == first.name, offset
            damage = hansard("log", "verify", "--data", data, expect=1)
            assert first.name in damage.errors, offset
            file.seek(offset)
            file.write(content[offset : offset + 1])
    assert verify("--data", data).status == 0
