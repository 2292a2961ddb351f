"""`hansard log checkpoint`, `prove` and `check-proof`, each compared with Tools/verify_log.py."""

import base64
import json
import re

import pytest

from harness import merkle
from harness.command import audit, hansard
from harness.log_writer import leaves
from harness.note_signer import NoteSigner
from harness.real_log import Growing, copy_data, identity_of, read_parts, seal, stolen_seed
from harness.server import Server
from harness.verifying import verify  # noqa: F401 (fixture)


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """Two sealed segments and an active one, and a tree head from each stage."""
    growing = Growing(tmp_path_factory.mktemp("grown")).fill()
    growing.keep("before any seal")
    seal(growing.data)
    growing.send_messages(20)
    growing.keep("one sealed, some active")
    seal(growing.data)
    growing.keep("two sealed")
    growing.send_messages(15)
    growing.keep("now")
    return growing


@pytest.fixture(scope="module")
def events(grown):
    return [event for part in read_parts(grown.data) for event in part.events()]


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    """Another log with its own key and tree head."""
    server = Server(tmp_path_factory.mktemp("stranger") / "data").start()
    server.stop()
    head = server.data.parent / "head.txt"
    head.write_text(hansard("log", "checkpoint", "--data", server.data).output)
    return server.data, head


@pytest.fixture
def check(grown, tmp_path, verify):
    """What both verifiers say about a proof. Their statuses must be equal."""
    def judge(text: str, since=None, key: str = grown.key) -> int:
        path = tmp_path / "proof.txt"
        path.write_text(text)
        checked = hansard("log", "check-proof", path, "--key", key, *(["--since", since] if since else []), expect=None)
        outcome = verify("--proof", path, "--key", key, *(["--checkpoint", since] if since else []))
        # Without an old tree head to compare with, the script cannot run. The executable reports the proof as invalid.
        is_agreed = outcome.status == checked.status or (since is None and outcome.status == 2)
        assert is_agreed, f"{outcome.errors}\n{checked.text}"
        assert (checked.output != "") == (checked.status == 0) and (checked.errors != "") == (checked.status != 0)
        return checked.status
    return judge


def prove(data, *arguments) -> str:
    return hansard("log", "prove", "--data", data, *arguments).output


def extra_of(proof: str) -> dict:
    return json.loads(base64.b64decode(proof.split("\n")[1].removeprefix("extra ")))


# Tree heads


def test_the_tree_head_is_the_root_of_all_records(grown, events):
    """Computed by the recursive definition of RFC 6962, and signed with the key in checkpoint.key."""
    sizes = {}
    for name, path in grown.heads.items():
        origin, size, root = path.read_text().split("\n")[:3]
        sizes[name] = int(size)
        assert base64.b64decode(root) == merkle.root(leaves(events[: int(size)])), name
        signer = NoteSigner(origin, stolen_seed(grown.data))
        assert path.read_text() == signer.tree_head(int(size), merkle.root(leaves(events[: int(size)]))), name
        assert signer.verifier_key() == grown.key
    assert sizes["empty"] == 0 and sizes["now"] == len(events) == sizes["two sealed"] + 15


def test_a_tree_head_is_the_same_however_often_it_is_asked_for(grown):
    again = hansard("log", "checkpoint", "--data", grown.data).output
    assert again == grown.heads["now"].read_text()
    stored = sorted((grown.data / "log").glob("*.checkpoint"))
    assert stored[-1].read_text() == grown.heads["two sealed"].read_text()
    assert stored[-1].name == f"{len(audit(grown.data)) - 15:020}.checkpoint"


def test_every_kept_head_is_accepted_by_both(grown, verify):
    kept = [part for path in grown.heads.values() for part in ("--checkpoint", path)]
    outcome = verify("--data", grown.data, "--key", grown.key, *kept)
    assert (outcome.status, outcome.result["keptCheckpoints"], outcome.result["sealed"]) == (0, 5, 2), outcome.errors
    text = hansard("log", "verify", "--data", grown.data, *kept).output
    assert "agrees with 7 signed tree heads" in text and outcome.result["root"] in text


# Inclusion


def places(events) -> list:
    ends = [len(events) - 35, len(events) - 15]
    return [1, 2, 3, 255, 256, 257, 1024, *ends, *(end + 1 for end in ends), len(events) - 1, len(events)]


def test_every_record_can_be_proved(grown, events, check):
    """The first and last records, and those at the edges of nodes and of segments, sealed and active."""
    for position in places(events):
        proof = prove(grown.data, "--position", position)
        assert check(proof) == 0
        extra, event = extra_of(proof), events[position - 1]
        assert extra["envelope"] == event.envelope().hex() and f"\nindex {position - 1}\n" in proof
        assert merkle.sha256(b"\0", bytes.fromhex(extra["envelope"] + extra["digest"])) == leaves(events)[position - 1]
        hashes = proof.split("\n\n")[0].split("\n")[3:]
        assert list(map(base64.b64decode, hashes)) == merkle.inclusion(position - 1, leaves(events))


def test_the_proof_of_a_message_shows_its_text(grown):
    row = next(row for row in audit(grown.data, "--room", grown.room) if row["type"] == "message.sent")
    assert row["detail"]["text"].encode() in bytes.fromhex(extra_of(prove(grown.data, "--position", row["position"]))
                                                           ["payload"])


def test_no_proof_shows_a_key(grown, events):
    """A registration holds the author's commitment key. With it, the digests of everything the author wrote could be
    guessed even after an erasure."""
    position = next(number for number, event in enumerate(events, 1) if event.kind == 1)
    key = events[position - 1].payload[-32:]
    assert key.hex() not in json.dumps(extra_of(prove(grown.data, "--position", position)))


def test_a_proof_from_before_a_seal_still_holds_after_it(grown, check, tmp_path):
    data = copy_data(grown.data, tmp_path / "data")
    position = len(audit(data)) - 3
    before = prove(data, "--position", position)
    seal(data)
    assert prove(data, "--position", position) == before
    assert check(before) == 0


def test_a_proof_that_was_tampered_with_does_not_hold(grown, events, check):
    position = next(row["position"] for row in audit(grown.data, "--type", "message.sent") if row["position"] > 300)
    proof, index = prove(grown.data, "--position", position), position - 1
    other = prove(grown.data, "--position", position + 1)
    lines, head = proof.split("\n\n")[0].split("\n"), proof.split("\n\n", 1)[1]

    def with_extra(**changes) -> str:
        extra = {name: value for name, value in (extra_of(proof) | changes).items() if value is not None}
        return proof.replace(lines[1], "extra " + base64.b64encode(json.dumps(extra).encode()).decode())

    def with_lines(*changed) -> str:
        return "\n".join(changed) + "\n\n" + head

    extra = extra_of(proof)
    flipped = "0" if extra["payload"][-1] != "0" else "1"
    forged = {
        "another index": proof.replace(f"index {index}", f"index {index + 1}"),
        "beyond": proof.replace(f"index {index}", "index 99999"), "negative": proof.replace("index ", "index -"),
        "zero in front": proof.replace("index ", "index 0"),
        "another record": proof.replace(lines[1], other.split("\n")[1]), "payload": with_extra(
            payload=extra["payload"][:-1] + flipped), "no payload": with_extra(payload=None),
        "salt": with_extra(salt="00" * 16), "no salt": with_extra(salt=None), "empty salt": with_extra(salt=""),
        "digest": with_extra(digest="00" * 32), "no digest": with_extra(digest=None),
        "payload and digest": with_extra(payload="00", salt="", digest=merkle.sha256(b"\0").hex()),
        "envelope": with_extra(envelope=extra["envelope"][:-1] + ("0" if extra["envelope"][-1] != "0" else "1")),
        "envelope of another": with_extra(envelope=events[position].envelope().hex()),
        "upper case": with_extra(payload=extra["payload"].upper() + "AA"), "odd hex": with_extra(payload="0"),
        "a hash less": with_lines(*lines[:-1]), "a hash more": with_lines(*lines, lines[-1]),
        "the first twice": with_lines(*lines[:4], *lines[3:]), "exchanged": with_lines(
            *lines[:3], lines[4], lines[3], *lines[5:]), "no hashes": with_lines(*lines[:3]),
        "a hash of another": with_lines(*lines[:3], base64.b64encode(bytes(32)).decode(), *lines[4:]),
        "short hash": with_lines(*lines[:3], base64.b64encode(bytes(31)).decode(), *lines[4:]),
        "another version": proof.replace("@v1", "@v2"), "no version": "\n".join(proof.split("\n")[1:]),
        "no note": proof.split("\n\n")[0] + "\n\n", "cut": proof[:-5], "empty": "", "junk": "junk\n",
        "size": re.sub(rf"\n{len(events)}\n", f"\n{len(events) + 1}\n", proof),
        "older head": with_lines(*lines).replace(head, grown.heads["two sealed"].read_text()),
        "root": proof.replace(head.split("\n")[2], base64.b64encode(bytes(32)).decode()),
        "origin": proof.replace("hansard/", "hansard/0", 1), "no signature": proof[: proof.index("\u2014")],
        "signature": proof[:-10] + ("A" if proof[-10] != "A" else "B") + proof[-9:],
    }
    assert [name for name, text in forged.items() if text == proof] == []
    assert {name: status for name, text in forged.items() if (status := check(text)) != 1} == {}


# Consistency


def test_the_log_has_only_grown_since_every_kept_head(grown, events, check):
    for name, path in grown.heads.items():
        proof = prove(grown.data, "--since", path)
        assert check(proof, since=path) == 0, name
        old = int(path.read_text().split("\n")[1])
        hashes = [base64.b64decode(line) for line in proof.split("\n\n")[0].split("\n")[1:]]
        assert hashes == (merkle.consistency(old, leaves(events)) if old else []), name
        assert check(proof) != 0, "without the old head it proves nothing"


def test_a_consistency_proof_that_was_tampered_with_does_not_hold(grown, check):
    since = grown.heads["before any seal"]
    proof = prove(grown.data, "--since", since)
    lines, head = proof.split("\n\n")[0].split("\n"), proof.split("\n\n", 1)[1]
    forged = {
        "less": "\n".join(lines[:-1]) + "\n\n" + head, "more": "\n".join([*lines, lines[-1]]) + "\n\n" + head,
        "exchanged": "\n".join([lines[0], lines[2], lines[1], *lines[3:]]) + "\n\n" + head,
        "none": lines[0] + "\n\n" + head, "root": proof.replace(head.split("\n")[2], lines[1]),
        "older head": "\n".join(lines) + "\n\n" + grown.heads["two sealed"].read_text(),
        "the old head itself": lines[0] + "\n\n" + grown.heads["empty"].read_text(), "cut": proof[:-5], "empty": "",
    }
    assert {name: status for name, text in forged.items() if (status := check(text, since=since)) != 1} == {}


def test_a_proof_is_held_against_the_right_old_head(grown, check, stranger):
    proof = prove(grown.data, "--since", grown.heads["before any seal"])
    assert check(proof, since=grown.heads["before any seal"]) == 0
    checked = hansard("log", "check-proof", "-", "--key", grown.key, expect=None)
    assert checked.status != 0
    path = grown.folder / "proof.txt"
    path.write_text(proof)
    for since in (grown.heads["two sealed"], grown.heads["empty"], stranger[1]):
        refusal = hansard("log", "check-proof", path, "--key", grown.key, "--since", since, expect=None)
        assert refusal.status in (1, 2) and refusal.output == ""


def test_two_histories_under_one_key_are_told_apart(grown, check, tmp_path):
    """A holder of the key can sign another tree of the same size, but no consistency proof leads from it to the log."""
    origin, size = grown.heads["before any seal"].read_text().split("\n")[:2]
    lie = tmp_path / "lie.txt"
    lie.write_text(NoteSigner(origin, stolen_seed(grown.data)).tree_head(int(size), merkle.sha256(b"another")))
    assert check(prove(grown.data, "--since", grown.heads["before any seal"]), since=lie) == 1
    refusal = hansard("log", "prove", "--data", grown.data, "--since", lie, expect=None)
    assert refusal.status == 1 and refusal.output == "", refusal.text


# Keys and errors


def test_a_wrong_key_verifies_nothing(grown, check, stranger, verify):
    other = (stranger[0] / "checkpoint.pub").read_text().strip()
    same_name = NoteSigner(grown.key.split("+")[0], bytes(32)).verifier_key()
    since = grown.heads["before any seal"]
    for key in (other, same_name):
        assert check(prove(grown.data, "--position", 3), key=key) == 1
        assert check(prove(grown.data, "--since", since), since=since, key=key) == 1
        assert verify("--data", grown.data, "--key", key).status == 1


def test_a_key_may_be_a_file_or_its_text(grown, tmp_path):
    (tmp_path / "proof").write_text(prove(grown.data, "--position", 5))
    for key in (grown.key, grown.data / "checkpoint.pub"):
        said = hansard("log", "check-proof", tmp_path / "proof", "--key", key).output
        assert said.startswith("ok: the record is at position 5 of hansard/")
    for key in ("nonsense", tmp_path / "nowhere"):
        refusal = hansard("log", "check-proof", tmp_path / "proof", "--key", key, expect=None)
        assert refusal.status != 0 and refusal.errors.startswith("hansard: ")


def test_an_impossible_proof_is_explained(grown, events, stranger, tmp_path):
    for position in (0, len(events) + 1, 1 << 62):
        refusal = hansard("log", "prove", "--data", grown.data, "--position", position, expect=2)
        assert f"has positions 1 to {len(events)}" in refusal.errors
    for arguments in ([], ["--position", "1", "--since", grown.heads["empty"]], ["--position", "one"]):
        hansard("log", "prove", "--data", grown.data, *arguments, expect=64)
    refusal = hansard("log", "prove", "--data", grown.data, "--since", stranger[1], expect=None)
    assert refusal.status in (1, 2) and refusal.output == "" and refusal.errors.startswith("hansard: ")
    refusal = hansard("log", "prove", "--data", grown.data, "--since", tmp_path / "nowhere", expect=2)
    assert "nowhere cannot be read" in refusal.errors
    refusal = hansard("log", "prove", "--data", stranger[0], "--position", 1, expect=2)
    assert refusal.errors.startswith("hansard: ")


def test_without_its_key_file_nothing_is_signed(grown, tmp_path):
    data = copy_data(grown.data, tmp_path / "data")
    (data / "checkpoint.key").unlink()
    for command in (["checkpoint"], ["prove", "--position", "1"], ["prove", "--since", grown.heads["empty"]], ["seal"]):
        refusal = hansard("log", *command, "--data", data, expect=2)
        assert "checkpoint.key" in refusal.errors and refusal.output == "", command
    hansard("log", "verify", "--data", data)
    assert not (data / "checkpoint.key").exists()


def test_heads_and_proofs_are_given_beside_a_running_server(grown, tmp_path, check):
    server = Server(copy_data(grown.data, tmp_path / "data")).start()
    try:
        assert hansard("log", "checkpoint", "--data", server.data).output == grown.heads["now"].read_text()
        assert check(prove(server.data, "--position", 7)) == 0
        assert identity_of(server.data) == identity_of(grown.data)
    finally:
        server.end()
