"""Tree heads, keys and proofs in the verifier in Python, and the primitives that it relies on. No server runs here."""

import base64
import dataclasses
import json
import random
import shutil
import subprocess
import sys

import pytest

from harness import merkle
from harness.log_story import CAROL, change_text, erase, parts
from harness.log_writer import LogWriter, Part, crc, digests
from harness.note_signer import NoteSigner
from harness.verifying import COUNT, HEADS, SCRIPT, verifier
from harness.verifying import data, events, kept, verify, whole, writer  # noqa: F401 (fixtures)

ANOTHER_SEED = bytes(32)


# Tree heads


def test_a_tree_head_may_have_extensions_and_other_signatures(data, writer, verify, tmp_path):
    root = merkle.root(writer.leaves[:500])
    other = NoteSigner("witness.example", ANOTHER_SEED)
    note = writer.signer.tree_head(500, root, "an extension\n")
    text = note.split("\n\n")[0] + "\n"
    kept = tmp_path / "kept.txt"
    kept.write_text(note + other.signature_line(text))
    outcome = verify("--data", data, "--checkpoint", kept)
    assert outcome.status == 0, outcome.errors
    kept.write_text(text + "\n" + other.signature_line(text))
    assert verify("--data", data, "--checkpoint", kept).status == 1


@pytest.mark.parametrize("change", [
    lambda note: note.replace("300", "299", 1), lambda note: note.replace("\n300\n", "\n0300\n"),
    lambda note: note.replace("hansard/0011", "hansard/0012"), lambda note: note.rstrip("\n"),
    lambda note: note.replace("\n\n", "\nmore\n\n"), lambda note: note.replace("\u2014", "-"),
    lambda note: note + "junk\n", lambda note: note.split("\n\n")[0] + "\n\n", lambda note: note + "x" * 16_384,
    lambda note: "", lambda note: note[:-3] + "!\n",
])
def test_a_forged_tree_head_is_damage(data, change, verify):
    path = data / "log" / HEADS[0]
    path.write_text(change(path.read_text()))
    assert verify("--data", data).place()[0] == HEADS[0]


def test_tree_heads_of_every_size_hold(whole, writer, verify, tmp_path):
    arguments = []
    for size in (0, 1, 2, 3, 255, 256, 257, 511, 512, 513, 741):
        path = tmp_path / f"{size}.txt"
        path.write_text(writer.head(size))
        arguments += ["--checkpoint", path]
    outcome = verify("--data", whole, *arguments)
    assert (outcome.status, outcome.result.get("keptCheckpoints")) == (0, 11), outcome.errors


@pytest.mark.parametrize("change", [
    lambda key: "", lambda key: "name+00000000+" + key.split("+", 2)[2], lambda key: key[:-8] + "AAAA",
    lambda key: key.replace("hansard", "Hansard"), lambda key: key.replace("/", "//", 1),
])
def test_a_forged_verifier_key_is_damage(data, writer, change, verify):
    (data / "checkpoint.pub").write_text(change(writer.signer.verifier_key()) + "\n")
    assert verify("--data", data).place()[0] == "checkpoint.pub"


def test_a_key_of_another_log_is_refused(data, verify, tmp_path):
    other, key = NoteSigner("hansard/another", ANOTHER_SEED), tmp_path / "key.pub"
    key.write_text(other.verifier_key() + "\n")
    assert verify("--data", data, "--key", key).place()[0] == "checkpoint.pub"
    (data / "checkpoint.pub").unlink()
    for name in HEADS:
        (data / "log" / name).unlink()
    kept = tmp_path / "kept.txt"
    kept.write_text(other.tree_head(0, merkle.root([])))
    outcome = verify("--data", data, "--key", key, "--checkpoint", kept)
    assert outcome.status == 1 and "belongs to" in outcome.errors


@pytest.mark.parametrize("size, root", [(0, bytes(32)), (5, bytes(31)), (5, b"")])
def test_a_signed_head_against_the_rules_is_refused(data, writer, size, root, verify, tmp_path):
    kept = tmp_path / "kept.txt"
    kept.write_text(writer.signer.tree_head(size, root))
    assert verify("--data", data, "--checkpoint", kept).place()[0] == str(kept)
    kept.write_bytes(b"\xff\xfe")
    assert verify("--data", data, "--checkpoint", kept, alone=True).place()[0] == str(kept)


# Proofs


def inclusion_proof(writer, index: int, size: int, **changes) -> str:
    event, (salt, digest) = writer.events[index], digests(writer.events)[index]
    extra = {"envelope": event.envelope().hex(), "digest": digest.hex()}
    extra |= {} if salt is None else {"salt": salt.hex(), "payload": event.payload.hex()}
    extra = base64.b64encode(json.dumps(extra | changes).encode()).decode()
    hashes = [base64.b64encode(part).decode() for part in merkle.inclusion(index, writer.leaves[:size])]
    return "\n".join(["c2sp.org/tlog-proof@v1", f"extra {extra}", f"index {index}", *hashes, "", writer.head(size)])


def consistency_proof(writer, old: int, size: int) -> str:
    hashes = merkle.consistency(old, writer.leaves[:size]) if old else []
    lines = [base64.b64encode(part).decode() for part in hashes]
    return "\n".join([f"old {old}", *lines, "", writer.head(size)])


@pytest.fixture
def prove(writer, tmp_path, verify):
    """Verifies a proof with the key of the log."""
    def check(text, *arguments):
        path = tmp_path / "proof.txt"
        path.write_text(text)
        return verify("--proof", path, "--key", writer.signer.verifier_key(), *arguments)
    return check


@pytest.mark.parametrize("index, size", [(0, 1), (0, 2), (1, 2), (2, 3), (6, 7), (255, 256), (256, 257), (150, 742),
                                         (741, 742), (511, 600)])
def test_an_inclusion_proof_holds(writer, index, size, prove):
    outcome = prove(inclusion_proof(writer, index, size))
    assert outcome.status == 0 and outcome.result["position"] == index + 1, outcome.errors


def test_an_inclusion_proof_of_an_erased_record_holds(events, prove):
    erased = LogWriter(parts(erase(events, CAROL)))
    index = next(index for index, event in enumerate(erased.events) if event.form == 1)
    assert prove(inclusion_proof(erased, index, COUNT)).result["payload"] == "not shown"


def test_other_members_of_the_extra_object_mean_nothing(writer, prove):
    assert prove(inclusion_proof(writer, 150, COUNT, note="see also", key=None)).status == 0


def test_the_proof_of_the_longest_payload_holds(events, prove):
    longest = Part([[*events[:150], dataclasses.replace(events[150], payload=b"x" * (1 << 20), actor=None)]])
    proof = inclusion_proof(LogWriter([longest]), 150, 151)
    assert prove(proof).result["payload"] == f"{1 << 20} bytes"
    assert prove(proof.replace("@v1", "@v1" + "x" * (4 << 20))).status == 1
    assert "longer than 16 KiB" in prove("old 3\n" + "x" * 17_000 + "\n\n").errors


def test_a_forged_inclusion_proof_is_refused(writer, prove, kept):
    proof = inclusion_proof(writer, 150, COUNT)
    lines = proof.split("\n")
    forged = [
        proof.replace("index 150", "index 151"), proof.replace("index 150", "index 742"),
        proof.replace("@v1", "@v2"), "\n".join([*lines[:3], *lines[4:]]), "\n".join([*lines[:3], lines[3], *lines[3:]]),
        "\n".join([*lines[:3], lines[4], lines[3], *lines[5:]]),
        inclusion_proof(writer, 150, COUNT, payload="00"), inclusion_proof(writer, 150, COUNT, salt="00"),
        inclusion_proof(writer, 150, COUNT, digest="00" * 32),
        inclusion_proof(writer, 150, COUNT, envelope=writer.events[151].envelope().hex()),
        inclusion_proof(writer, 150, COUNT, envelope="AA"), inclusion_proof(writer, 150, COUNT)[:-10],
    ]
    assert [prove(text).status for text in forged] == [1] * len(forged)
    other = LogWriter(parts(change_text(writer.events)))
    assert prove(inclusion_proof(other, 150, COUNT)).status == 0
    assert prove(inclusion_proof(other, 150, COUNT), "--checkpoint", kept).status == 1


@pytest.mark.parametrize("extra", [
    "{}", "[]", "{", '{"digest": ""}', '{"envelope": "", "digest": "%s"}' % ("00" * 32),
    '{"envelope": "", "digest": "00"}', '{"digest": "", "digest": ""}', '{"envelope": 1, "digest": ""}',
    '{"envelope": "", "digest": "", "payload": ""}',
])
def test_a_proof_with_a_malformed_record_is_refused(writer, extra, prove):
    lines = inclusion_proof(writer, 150, COUNT).split("\n")
    lines[1] = "extra " + base64.b64encode(extra.encode()).decode()
    assert prove("\n".join(lines)).status == 1


@pytest.mark.parametrize("text", ["", "old 3", "old 3\n\n", "c2sp.org/tlog-proof@v1\n\n", "new 3\n\n",
                                  "c2sp.org/tlog-proof@v1\nindex 3\nindex 3\n\n", "old -3\n\n"])
def test_a_file_that_is_not_a_proof_is_refused(text, prove):
    assert prove(text).status == 1


@pytest.mark.parametrize("old, size", [(0, 5), (1, 1), (1, 2), (2, 3), (3, 7), (4, 7), (6, 7), (256, 742), (300, 700),
                                       (700, 742), (741, 742), (742, 742)])
def test_a_consistency_proof_holds(writer, old, size, prove, tmp_path):
    head = tmp_path / "old.txt"
    head.write_text(writer.head(old))
    outcome = prove(consistency_proof(writer, old, size), "--checkpoint", head)
    assert (outcome.status, outcome.result.get("oldSize")) == (0, old), outcome.errors


def test_a_forged_consistency_proof_is_refused(events, writer, prove, tmp_path):
    head, proof = tmp_path / "old.txt", consistency_proof(writer, 300, 700)
    head.write_text(writer.head(300))
    lines = proof.split("\n")
    other = LogWriter(parts(change_text(events)))
    forged = ["\n".join([lines[0], *lines[2:]]), "\n".join([lines[0], lines[1], *lines[1:]]),
              "\n".join([lines[0], lines[2], lines[1], *lines[3:]]), consistency_proof(other, 300, 700),
              consistency_proof(other, 300, 300),
              "\n".join(["old 300", "", writer.head(200)]), "\n".join(["old 300", "", writer.head(700)]),
              consistency_proof(writer, 300, 300).replace("old 300", f"old 300\n{lines[1]}"),
              proof.replace(writer.head(700), other.head(700))]
    assert [prove(text, "--checkpoint", head).status for text in forged] == [1] * len(forged)
    head.write_text(other.head(300))
    assert prove(proof, "--checkpoint", head).status == 1
    assert prove(proof).status == 2, "there is no checkpoint of the old size"


# The primitives that it relies on, and errors that keep it from running


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 1699, 1700, 1701, 4092, 5000, 70_001])
def test_the_checksum_is_that_of_the_plain_definition(length):
    assert verifier.crc32c(b"123456789") == 0xE3069283
    data = random.Random(length).randbytes(length)
    assert verifier.crc32c(data) == crc(data)


def test_signatures_are_those_of_rfc_8032():
    """Section 7.1, tests 1 and 3."""
    vectors = [
        ("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
         "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
         "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
         "d25bf5f0595bbe24655141438e7a100b"),
        ("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
         "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
         "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
         "4a7c15e9716ed28dc027beceea1ec40a"),
    ]
    for seed, public, message, signature in vectors:
        signer = NoteSigner("name", bytes.fromhex(seed))
        public, message, signature = map(bytes.fromhex, (public, message, signature))
        assert (signer.public, signer.sign(message)) == (public, signature)
        assert verifier.ed25519_verifies(public, message, signature)
        assert not verifier.ed25519_verifies(public, message + b"x", signature)
        scalar = int.from_bytes(signature[32:], "little") + verifier.ORDER
        assert not verifier.ed25519_verifies(public, message, signature[:32] + scalar.to_bytes(32, "little"))


def test_the_verifier_needs_nothing_from_the_repository(whole, tmp_path):
    """It runs as a program from any directory, and imports nothing from the repository."""
    script = shutil.copy(SCRIPT, tmp_path / "verify.py")
    run = subprocess.run([sys.executable, script, "--data", whole], capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 0 and "every check passed" in run.stdout, run.stderr
    quiet = subprocess.run([sys.executable, script, "--data", whole, "--quiet"], capture_output=True, text=True)
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")


@pytest.mark.parametrize("arguments, says", [
    (["--data", "nowhere"], "not a directory"), ([], "pass --data"), (["--proof", "nowhere"], "needs a key"),
])
def test_missing_requirements_are_reported(arguments, says, tmp_path):
    run = subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 2 and says in run.stderr


def test_a_missing_lz4_is_reported(whole, monkeypatch, verify):
    monkeypatch.setattr(verifier, "lz4", None)
    outcome = verify("--data", whole, alone=True)
    assert outcome.status == 2 and "pip install lz4" in outcome.errors
