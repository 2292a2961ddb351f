"""The verifier in Python accepts the log that the format page describes, and nothing else. No server runs here.

`hansard log verify` must reach the same result each time, except for the few things that only the script checks.
"""

import base64
import dataclasses
import random
import re
import shutil

import pytest

from harness import merkle
from harness.command import hansard
from harness.log_story import ALICE, CAROL, SHAPE, change_text, erase, parts, put, registration, turn
from harness.log_writer import CREATED, LogWriter, Part
from harness.verifying import COUNT, FIRST, FULL, HEADS, ROOT, SECOND, TAIL
from harness.verifying import data, events, kept, verify, whole, writer  # noqa: F401 (fixtures)

ANOTHER_SEED = bytes(32)
COLUMNS = ("shapes", "shape", "stream", "actor", "service", "device", "subject", "command", "version", "time",
           "original time", "length", "fresh", "content")


# Valid logs


def test_a_whole_log_is_accepted(whole, kept, verify, writer):
    outcome = verify("--data", whole, "--checkpoint", kept, "--key", writer.signer.verifier_key())
    assert outcome.status == 0, outcome.errors
    expected = {"segments": 4, "sealed": 2, "blocks": 9, "records": COUNT, "treeSize": COUNT, "treeHeads": 2}
    assert expected.items() <= outcome.result.items()
    assert outcome.result["root"] == base64.b64encode(merkle.root(writer.leaves)).decode()
    assert outcome.result["notes"] == []


def test_every_erasure_leaves_the_tree_as_it_was(events, kept, tmp_path, verify):
    data = LogWriter(parts(erase(events, CAROL))).write(tmp_path / "data")
    outcome = verify("--data", data, "--checkpoint", kept)
    assert outcome.status == 0, outcome.errors
    assert outcome.result["erased"] > 10 and outcome.result["ownSalts"] > 10


def test_segments_may_all_be_active(events, kept, tmp_path, verify):
    shape = [[60] * 5, [50] * 6, SHAPE[2], [12, 20, 40, 40]]
    outcome = verify("--data", LogWriter(parts(events, shape, 0)).write(tmp_path / "data"), "--checkpoint", kept)
    assert (outcome.status, outcome.result.get("sealed")) == (0, 0), outcome.errors


def test_the_golden_log_is_accepted(tmp_path, verify):
    shutil.copytree(ROOT / "Tests" / "Fixtures" / "v1" / "log", tmp_path / "log")
    outcome = verify("--data", tmp_path)
    assert outcome.status == 0, outcome.errors
    assert (outcome.result["segments"], outcome.result["records"]) == (3, 64)


def test_the_golden_sealed_log_and_its_proofs_are_accepted(verify):
    golden = ROOT / "Tests" / "Fixtures" / "v1"
    key = golden / "sealed" / "checkpoint.pub"
    outcome = verify("--data", golden / "sealed", "--checkpoint", golden / "head.checkpoint")
    assert outcome.status == 0, outcome.errors
    assert (outcome.result["sealed"], outcome.result["treeHeads"], outcome.result["records"]) == (7, 7, 2010)
    retained, erased = (verify("--proof", golden / name, "--key", key)
                        for name in ("retained.tlog-proof", "erased.tlog-proof"))
    assert retained.status == erased.status == 0
    assert retained.result["payload"].endswith(" bytes") and erased.result["payload"] == "not shown"
    old = sorted((golden / "sealed" / "log").glob("*.checkpoint"))
    size = int((golden / "consistency.proof").read_text().split()[1])
    since = next(path for path in old if int(path.stem) == size)
    grown = verify("--proof", golden / "consistency.proof", "--key", key, "--checkpoint", since)
    assert grown.status == 0, grown.errors


def test_the_worked_example_of_the_page_is_accepted(tmp_path, verify):
    page = (ROOT / "docs" / "log-format.md").read_text()
    (tmp_path / "log").mkdir()
    for name, dump in re.findall(r"```hex (\S+)\n(.*?)```", page, re.DOTALL):
        content = bytearray(8192 if name == "superblock" else 5120)
        for line in dump.splitlines():
            offset, _, row = line.partition("  ")
            content[int(offset, 16) : int(offset, 16) + 16] = bytes.fromhex(row)
        (tmp_path / "log" / name).write_bytes(content)
    outcome = verify("--data", tmp_path)
    assert outcome.status == 0, outcome.errors
    assert (outcome.result["records"], outcome.result["erased"], outcome.result["durable"]) == (3, 1, 3)


def test_a_log_that_was_only_just_made_is_accepted(tmp_path, verify):
    data = LogWriter([Part([])]).write(tmp_path / "data")
    assert verify("--data", data).result["records"] == 0
    (data / "log" / FIRST).unlink()
    assert verify("--data", data).result["segments"] == 0


# What a crash may leave


def test_an_unfinished_end_is_reported_and_accepted(events, tmp_path, verify):
    data = LogWriter(parts(events), durable=COUNT - 5).write(tmp_path / "data")
    path = data / "log" / TAIL
    content = path.read_bytes()
    path.write_bytes(content[: len(content.rstrip(b"\0")) - 7])
    outcome = verify("--data", data)
    assert (outcome.status, outcome.result["records"]) == (0, COUNT - 3), outcome.errors
    assert "unfinished end" in outcome.result["notes"][0]


def test_an_end_that_is_known_to_be_durable_is_damage(data, verify):
    path = data / "log" / TAIL
    content = path.read_bytes()
    path.write_bytes(content[: len(content.rstrip(b"\0")) - 7])
    outcome = verify("--data", data)
    assert outcome.status == 1 and "known to be durable" in outcome.errors
    assert outcome.place()[0] == TAIL and outcome.place()[2] == COUNT - 2


def test_a_damaged_block_before_an_intact_one_is_damage(events, tmp_path, verify):
    data = LogWriter(parts(events), durable=0).write(tmp_path / "data")
    content = bytearray((data / "log" / TAIL).read_bytes())
    start = [found.start() for found in re.finditer(b"HBLK", content)][1]
    content[start + 70] ^= 1
    (data / "log" / TAIL).write_bytes(content)
    outcome = verify("--data", data)
    assert outcome.status == 1 and outcome.place() == (TAIL, start, 736)


@pytest.mark.parametrize("change, status", [(turn(48), 1), (turn(16), 0), (turn(44), 0)])
def test_a_last_block_that_followed_another_one_is_damage(events, tmp_path, change, status, verify):
    """Such an intact block is no torn block. One with another position or a damaged body may be."""
    data = LogWriter(parts(events), durable=COUNT - 5, forge={"block/3/2": change}).write(tmp_path / "data")
    outcome = verify("--data", data)
    assert outcome.status == status, outcome.errors
    assert status == 0 or (outcome.place()[2] == COUNT - 2 and "a different block" in outcome.errors)


def test_one_damaged_superblock_is_reported_and_two_are_damage(data, verify):
    path = data / "log" / "superblock"
    path.write_bytes(turn(4096 + 20)(path.read_bytes()))
    outcome = verify("--data", data)
    assert outcome.status == 0 and "one copy" in outcome.result["notes"][0]
    path.write_bytes(turn(20)(path.read_bytes()))
    assert verify("--data", data).place()[0] == "superblock"


def test_the_head_of_the_last_sealed_segment_may_still_lack(data, verify):
    (data / "log" / HEADS[1]).unlink()
    assert "no tree head yet" in verify("--data", data).result["notes"][0]
    (data / "log" / HEADS[0]).unlink()
    assert verify("--data", data).place()[0] == HEADS[0]


# Random damage


def flips(whole):
    """(file, offset) in every region: headers, blocks, padding, sections, and the zeros between the blocks and the
    end."""
    chance = random.Random(11)
    for name in (FIRST, SECOND, FULL, TAIL):
        content = (whole / "log" / name).read_bytes()
        used = len(content.rstrip(b"\0")) if name in (FULL, TAIL) else len(content)
        edges = [0, 8, 12, 14, 16, 32, 40, 48, 56, 60, 64, 100, 2111, 2112, 2120, 2128, 2136, 2148, 2152, 2156, 2160,
                 2239, 2240, 4000, 4092, 4095, used - 1]
        blocks = [found.start() for found in re.finditer(b"HBLK", content)]
        edges += [block + at for block in blocks for at in (0, 4, 5, 6, 8, 16, 24, 32, 36, 40, 44, 48, 52, 60, 64, 65)]
        edges += [chance.randrange(4096, used) for _ in range(60)]
        edges += [used + 9, len(content) - 1] if name == FULL else []
        yield from ((name, offset) for offset in sorted(set(edges)))
    for name in HEADS:
        length = len((whole / "log" / name).read_bytes())
        yield from ((name, offset) for offset in range(0, length, 7))


def test_no_flipped_bit_goes_unnoticed(whole, data, verify):
    unnoticed = []
    for number, (name, offset) in enumerate(flips(whole)):
        path = data / "log" / name
        content = path.read_bytes()
        path.write_bytes(turn(offset)(content))
        outcome = verify("--data", data, alone=number % 4 > 0)
        if outcome.status != 1 or (outcome.result["file"] != name):
            unnoticed.append((name, offset, outcome.errors))
        path.write_bytes(content)
    assert unnoticed == []


@pytest.mark.parametrize("name", [FIRST, SECOND, FULL, TAIL, "superblock"])
def test_a_missing_file_is_damage(data, name, verify):
    (data / "log" / name).unlink()
    assert verify("--data", data).status == 1


@pytest.mark.parametrize("name, length", [
    (FIRST, -1), (FIRST, 4095), (SECOND, -40), (FULL, -1), (FULL, 4000), (TAIL, 4095), ("superblock", -1),
])
def test_a_file_that_was_cut_is_damage(data, name, length, verify):
    path = data / "log" / name
    path.write_bytes(path.read_bytes()[:length])
    assert verify("--data", data).status == 1


@pytest.mark.parametrize("name", [FIRST, SECOND, FULL, TAIL, "superblock"])
def test_a_file_that_grew_is_damage(data, name, verify):
    with (data / "log" / name).open("ab") as file:
        file.write(b"\0")
    assert verify("--data", data).status == 1


@pytest.mark.parametrize("name", ["1.seg", "00000000000000000301x.seg", "300.checkpoint"])
def test_a_file_under_a_wrong_name_is_damage(data, name, verify):
    (data / "log" / name).write_bytes((data / "log" / (FIRST if ".seg" in name else HEADS[0])).read_bytes())
    assert verify("--data", data).place()[0] == name


def test_an_inserted_segment_is_damage(data, verify):
    shutil.copy(data / "log" / TAIL, data / "log" / f"{721:020}.seg")
    outcome = verify("--data", data)
    assert outcome.place()[0] == FULL and "extend beyond" in outcome.errors


def test_files_beside_the_log_are_named_and_passed_over(data, verify):
    (data / "log" / "torn-00000000000000000731-1.bin").write_bytes(b"torn")
    assert "was not checked" in verify("--data", data).result["notes"][0]


def test_a_sealed_segment_at_the_end_is_damage(data, verify):
    for name in (FULL, TAIL):
        (data / "log" / name).unlink()
    assert verify("--data", data).place() == (SECOND, 12, 301)


def test_without_a_verifier_key_stored_heads_cannot_be_checked(data, writer, verify):
    (data / "checkpoint.pub").unlink()
    outcome = verify("--data", data)
    assert outcome.status == 2 and HEADS[0] in outcome.errors and "checkpoint.pub is missing" in outcome.errors
    assert outcome.executable.errors.count("checkpoint.pub") == 1
    assert verify("--data", data, "--key", writer.signer.verifier_key()).status == 0


def test_a_sealed_segment_behind_an_active_one_is_damage(events, tmp_path, verify):
    mixed = parts(events)
    mixed[0].sealed = False
    mixed[0].blocks = [block[:60] for block in mixed[0].blocks]
    outcome = verify("--data", LogWriter(mixed).write(tmp_path / "data"))
    assert outcome.status == 1 and "follows an active one" in outcome.errors


@pytest.mark.parametrize("one, other", [(FIRST, SECOND), (FIRST, FULL), (SECOND, FULL), (FULL, TAIL), tuple(HEADS)])
def test_two_files_that_changed_places_are_damage(data, one, other, verify):
    one, other = data / "log" / one, data / "log" / other
    contents = one.read_bytes(), other.read_bytes()
    one.write_bytes(contents[1])
    other.write_bytes(contents[0])
    assert verify("--data", data).status == 1


def test_a_segment_from_another_copy_of_the_log_is_damage(events, data, tmp_path, verify):
    """The same positions, but with another history before them."""
    changed = [*events[:10], dataclasses.replace(events[10], payload=b"other"), *events[11:]]
    other = LogWriter(parts(changed)).write(tmp_path / "other")
    shutil.copy(other / "log" / SECOND, data / "log" / SECOND)
    assert verify("--data", data).place()[0] == SECOND


# Damage by a forger, who recreates every checksum


def change_author(events):
    return [*events[:151], dataclasses.replace(events[151], actor=ALICE), *events[152:]]


def change_original_time(events):
    index = next(index for index, event in enumerate(events) if event.original is not None)
    return [*events[:index], dataclasses.replace(events[index], original=5), *events[index + 1 :]]


def exchange(events):
    first, second = events[199], events[198]
    return [*events[:198], dataclasses.replace(first, time=second.time), dataclasses.replace(second, time=first.time),
            *events[200:]]


def insert(events):
    return [*events[:198], dataclasses.replace(events[198], payload=b"inserted"), *events[198:]]


def delete(events):
    return events[:198] + events[199:]


def remove_key(events):
    return [dataclasses.replace(event, payload=event.payload[:-34]) if event.kind == 1 else event for event in events]


EDITS = [change_text, change_author, change_original_time, exchange, insert, delete, remove_key]


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_does_not_fit_the_stored_tree(events, writer, tmp_path, edit, verify):
    """The forger recreates checksums, chain, index and postings, but leaves peaks and nodes."""
    data = LogWriter(parts(edit(events)), tree=writer.leaves).write(tmp_path / "data")
    outcome = verify("--data", data)
    assert outcome.status == 1 and outcome.place()[0] in (FIRST, SECOND, "superblock"), outcome.errors


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_with_a_new_tree_does_not_fit_the_signed_heads(events, whole, tmp_path, edit, verify):
    """The forger recreates the tree too, but has no key."""
    data = LogWriter(parts(edit(events))).write(tmp_path / "data")
    for name in HEADS:
        shutil.copy(whole / "log" / name, data / "log" / name)
    outcome = verify("--data", data)
    assert outcome.status == 1 and outcome.place()[0] == HEADS[0] and "was changed" in outcome.errors


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_with_new_heads_does_not_have_the_trusted_key(events, writer, tmp_path, edit, verify):
    data = LogWriter(parts(edit(events)), seed=ANOTHER_SEED).write(tmp_path / "data")
    assert verify("--data", data).status == 0
    outcome = verify("--data", data, "--key", writer.signer.verifier_key())
    assert outcome.status == 1 and outcome.place()[0] == "checkpoint.pub"
    (data / "checkpoint.pub").unlink()
    outcome = verify("--data", data, "--key", writer.signer.verifier_key())
    assert outcome.status == 1 and outcome.place()[0] == HEADS[0]


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_with_the_stolen_key_is_caught_by_a_kept_checkpoint_alone(events, writer, kept, tmp_path, edit, verify):
    data = LogWriter(parts([*edit(events), events[-1]])).write(tmp_path / "data")
    key = writer.signer.verifier_key()
    assert verify("--data", data, "--key", key).status == 0
    outcome = verify("--data", data, "--key", key, "--checkpoint", kept)
    assert outcome.status == 1 and outcome.place() == (str(kept), None, COUNT)


def test_an_edit_behind_the_last_sealed_segment_is_caught_by_a_kept_checkpoint_alone(events, kept, tmp_path, verify):
    changed = [*events[:735], dataclasses.replace(events[735], payload=b"forged"), *events[736:]]
    data = LogWriter(parts(changed)).write(tmp_path / "data")
    assert verify("--data", data).status == 0
    outcome = verify("--data", data, "--checkpoint", kept)
    assert outcome.status == 1 and "was changed" in outcome.errors


def test_a_rollback_is_caught_by_a_kept_checkpoint_alone(events, kept, tmp_path, verify):
    data = LogWriter(parts(events[:-3])).write(tmp_path / "data")
    assert verify("--data", data).status == 0
    outcome = verify("--data", data, "--checkpoint", kept)
    assert outcome.status == 1 and "rolled back" in outcome.errors


def test_a_rollback_below_a_stored_head_is_caught(events, whole, tmp_path, verify):
    data = LogWriter(parts(events[:500], [SHAPE[0], [200]], 1)).write(tmp_path / "data")
    assert verify("--data", data).status == 0
    shutil.copy(whole / "log" / HEADS[1], data / "log" / HEADS[1])
    outcome = verify("--data", data)
    assert outcome.status == 1 and outcome.place()[0] == HEADS[1] and "rolled back" in outcome.errors


def swap_uuids(data):
    return data[16:32] + data[:16] + data[32:]


def end_with(extra):
    return lambda data: data + extra


def bad_form(data):
    return b"\7" + data[1:]


def longer(data):
    """Adds a shape that no record uses."""
    return data + b"\0\x63\0" + data[3:8]


SEAL_FIELDS = (0, 8, 16, 20, 24, 32, 36, 40, 44, 48, 52, 56, 64, 68, 80, 96, 100, 108)
FORGED_PARTS = {
    "copy/0": [put(8, "<I", 2), put(12, "<I", 1), put(16, "<B", 7), put(32, "<Q", 3), put(40, "<Q", 1 << 63),
               put(40, "<Q", 743), put(60, "<B", 1)],
    "copy/1": [put(8, "<I", 2), put(32, "<Q", 4), put(100, "<B", 1)],
    "behind/0": [turn(0), turn(-1)],
    "behind/1": [turn(0), turn(-1)],
    "header/0": [put(14, "<H", 1), put(16, "<B", 7), put(32, "<Q", 2), put(56, "<I", 1), put(60, "<I", 1),
                 put(64, "<B", 1), put(2112, "<Q", 9000), put(2120, "<q", 0), put(2156, "<I", 1), put(2300, "<B", 1),
                 put(8, "<I", 2), put(12, "<H", 3), put(12, "<H", 1), put(0, "<B", 0), put(60, "<I", 65),
                 put(32, "<Q", 0), put(2112, "<Q", 1 << 31)],
    "header/1": [turn(70), put(60, "<I", 2), put(2120, "<q", 5), put(56, "<I", 5)],
    "header/2": [put(60, "<I", 1), put(2112, "<Q", 32_776), put(2112, "<Q", 4096), put(2130, "<B", 1),
                 put(2120, "<q", 5), put(12, "<H", 2)],
    "seal/0": [put(16, "<I", 0), put(0, "<Q", 0)] + [turn(offset) for offset in SEAL_FIELDS],
    "block/0/1": [put(4, "<B", 2), put(5, "<B", 2), put(5, "<B", 1), put(6, "<H", 1), turn(8), put(16, "<Q", 122),
                  put(24, "<Q", 5), put(32, "<I", 179), put(32, "<I", 0), turn(36), turn(40), turn(44), turn(48),
                  put(52, "<Q", 1), put(40, "<I", 1 << 30), put(36, "<I", 1 << 30)],
    "block/2/1": [put(4, "<B", 2), put(5, "<B", 0), put(5, "<B", 3), put(16, "<Q", 712), put(24, "<Q", 800),
                  put(32, "<I", 19), turn(36), turn(44), turn(48)],
    "padding/0/0": [end_with(bytes(8)), lambda data: b"\1" * len(data) or bytes(8)],
    "stored/0/0": [turn(30), lambda data: data[:-1], end_with(b"\0")],
    "stored/1/0": [turn(200)],
    "section/0/index": [turn(offset) for offset in (0, 8, 12, 16, 24, 32, 40, 63)] + [lambda data: data[:32]],
    "section/0/streams": [turn(0), turn(1), turn(-1), end_with(b"\0"), lambda data: data[:-1]],
    "section/1/streams": [lambda data: b"\1\0" + data[3:], lambda data: b"\0" + data[3:], put(2, "<B", 1)],
    "section/0/table": [turn(3), swap_uuids, lambda data: data[:-16], lambda data: data[:16] + data[:-16],
                        end_with(b"\0"), end_with(bytes(16))],
    "section/0/tree": [turn(0), turn(-1), end_with(bytes(32)), lambda data: data[:-32]],
    "section/1/tree": [turn(0), turn(-1), turn(-40)],
    "section/1/dictionary": [lambda data: bytes(len(data)), lambda data: b""],
    "section/0/dictionary": [lambda data: bytes(65_537)],
    "rest/2": [turn(0), turn(-1)],
    **{f"column/0/0/{name}": [turn(0), lambda data: data[:-1], end_with(b"\0")] for name in COLUMNS[1:]},
    **{f"column/1/1/{name}": [turn(-1), lambda data: data[1:]] for name in COLUMNS},
    "column/0/0/shapes": [turn(0), bad_form, longer, lambda data: data + data[:8], put(5, "<H", 64), put(7, "<B", 3)],
    "column/0/1/shape": [lambda data: b"\x80\0" + data[1:], lambda data: b"\xff" * 10 + data],
    "column/0/1/version": [lambda data: b"\xff" * 9 + b"\2" + data[1:]],
    "body/0/0": [lambda data: data[:-1], lambda data: b"\xff\xff\3" + data[1:],
                 end_with(b"\0"), end_with(b"\1\1")],
    "body/2/0": [end_with(b"\0"), turn(0), turn(4), turn(5), turn(6), turn(13), turn(14)],
}
FORGERIES = [(part, number) for part, changes in FORGED_PARTS.items() for number in range(len(changes))]


@pytest.mark.parametrize("part, number", FORGERIES)
def test_a_forged_part_is_damage(events, writer, tmp_path, part, number, verify):
    """All checksums are recreated after the change."""
    forge = {part: FORGED_PARTS[part][number]}
    data = LogWriter(parts(events), tree=writer.leaves, forge=forge).write(tmp_path / "data")
    outcome = verify("--data", data)
    assert outcome.status == 1 and "verification failed" in outcome.errors


def test_bits_left_over_in_the_planes_are_damage(events, writer, tmp_path, verify):
    """Each of the 128 planes ends with unused bits."""
    # The subjects and commands are random, so none of them is in the table.
    counts = [sum(uuid is not None for event in block for uuid in event.ids()[3:]) for block in parts(events)[0].blocks]
    block = next(number for number, count in enumerate(counts) if count % 8)
    forge = {f"column/0/{block}/fresh": turn(-1)}
    outcome = verify("--data", LogWriter(parts(events), forge=forge).write(tmp_path / "data"))
    assert outcome.status == 1 and "unused bits" in outcome.errors


def test_fresh_identifiers_are_rebuilt_from_any_time(events, tmp_path, verify):
    """Before 1970, at the limits of 48 bits, and with UUIDv7 identifiers that begin before, at and after the event's
    time."""
    changed = list(events)
    for number, (start, original) in enumerate([
        (0, -1), (0, 5), ((1 << 48) - 1, 5), (7, 1 << 48), (7, -(1 << 63)), (CREATED, None), (CREATED - 1, None),
        (CREATED + 1, CREATED), ((1 << 48) - 1, (1 << 63) - 1),
    ], 20):
        subject = start.to_bytes(6, "big") + bytes([number]) * 10
        changed[number] = dataclasses.replace(events[number], subject=subject, original=original)
    writer = LogWriter(parts(changed))
    head = tmp_path / "head.txt"
    head.write_text(writer.head(COUNT))
    assert verify("--data", writer.write(tmp_path / "data"), "--checkpoint", head).status == 0


@pytest.mark.parametrize("fault", [
    {"kind": 0}, {"time": -5}, {"form": 3}, {"form": 1}, {"form": 2, "payload": bytes(15)}, {"stream": bytes(15)},
])
@pytest.mark.parametrize("index", [705, 736])
def test_a_record_against_the_rules_is_damage(events, writer, tmp_path, fault, index, verify):
    changed = [*events[:index], dataclasses.replace(events[index], **fault), *events[index + 1 :]]
    data = LogWriter(parts(changed), tree=writer.leaves).write(tmp_path / "data")
    assert verify("--data", data).place()[2] == index + 1


@pytest.mark.parametrize("sealed", [0, 2])
def test_a_retained_record_of_an_erased_author_needs_its_own_salt(events, writer, tmp_path, sealed, verify):
    erased = erase(events, CAROL)
    index = next(index for index, event in enumerate(erased) if event.form == 2 and index > 100)
    erased[index] = dataclasses.replace(erased[index], form=0, salt=b"")
    shape = SHAPE if sealed else [[60] * 5, [50] * 6, SHAPE[2], [12, 20, 40, 40]]
    outcome = verify("--data", LogWriter(parts(erased, shape, sealed), tree=writer.leaves).write(tmp_path / "data"))
    assert outcome.status == 1 and outcome.place()[2] == index + 1 and "no salt of its own" in outcome.errors


@pytest.mark.parametrize("change", [
    {"salt": bytes(16)}, {"payload": b"forged"}, {"form": 1, "salt": b"", "payload": bytes(32)},
])
def test_a_forged_own_salt_or_digest_is_damage(events, writer, tmp_path, change, verify):
    erased = erase(events, CAROL)
    index = next(index for index, event in enumerate(erased) if event.form == 2)
    erased[index] = dataclasses.replace(erased[index], **change)
    data = LogWriter(parts(erased), tree=writer.leaves).write(tmp_path / "data")
    assert verify("--data", data).place()[0] == FIRST


def test_a_second_registration_changes_no_key(events, tmp_path, verify):
    again = dataclasses.replace(registration(ALICE, b"Alice"), version=2, time=events[-1].time,
                                payload=b"\x2a\x20" + bytes(32))
    writer = LogWriter(parts([*events, again, dataclasses.replace(events[-1], actor=ALICE)]))
    head = tmp_path / "head.txt"
    head.write_text(writer.head(COUNT + 2))
    assert verify("--data", writer.write(tmp_path / "data"), "--checkpoint", head).status == 0
