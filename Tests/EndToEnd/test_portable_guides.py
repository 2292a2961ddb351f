"""The commands of the guides run on macOS too: they do the same in zsh as in bash, and no option, program or syntax in
them exists only on Linux."""

import re
import shutil

import pytest

from harness.guide import Guide
from harness.guide_pages import PAGES, PREFACE, serving
from harness.places import DOCS, ROOT
from harness.portable_shell import not_portable


def findings(guide: Guide) -> list[str]:
    return [f"{step.place}, {found}" for step in guide.steps for found in not_portable(step.commands)]


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_a_guide_runs_in_zsh(page, tmp_path):
    assert shutil.which("zsh"), "zsh is missing: apt-get install zsh"
    guide = Guide(page, PREFACE)
    with serving(guide, tmp_path) as server:
        guide.run(server, tmp_path, "zsh")


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_a_guide_is_portable(page):
    assert findings(Guide(page, PREFACE)) == []


def test_what_operators_are_shown_is_portable():
    assert findings(Guide(DOCS / "operating.md", PREFACE, "Accounts, sessions and keys")) == []


def test_the_first_commands_are_portable():
    """Those of the readme, to which a reader comes first."""
    blocks = re.findall(r"^```(?:sh|bash|console)?\n(.*?)^```$", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    assert any("curl" in block for block in blocks)
    assert [found for block in blocks for found in not_portable(block)] == []


@pytest.mark.parametrize(
    "command",
    [
        "at=$(date -u -d +1day +%FT%TZ)", "date -d '1 hour'", "date --iso-8601", "date +%s%N", "date -Iseconds",
        "sed -i s/a/b/ file", "sed -Ei 's/a/b/' file", r"sed 's/x\r$//' head", r"sed -n 's/^etag: //Ip' head",
        r"sed 's/a\+/b/'", "base64 -w 0 file", "base64 --wrap=0", "x=$(readlink -f .)", "realpath .", "grep -oP '[0-9]+' f",
        "grep --only-matching x f", "head -n -1 f", "head -c -4 f", "stat -c %s f", "xargs -r rm", "find . -printf %f",
        "printf x | sha256sum", "timeout 5 curl -sN url", "tac f", "cat /proc/sys/kernel/random/uuid", "declare -A ids",
        "mapfile -t lines <f", "echo ${name,,}", "echo ${name^^}", "echo ${name@Q}", "make |& tee log", "make &>>log", "wait -n",
        "local -n names=$1", "cp -t folder a b", "curl -w '%header{etag}' url", "sort --reverse f",
    ],
)
def test_what_is_not_portable_is_found(command):
    assert not_portable(f"echo before\n{command}\n")[0].startswith("line 2: ")


@pytest.mark.parametrize(
    "command",
    [
        "date -u +%FT%TZ", "sed -n 's/^data: //p' events | jq '.items[] | {id}'", "sed -E 's/^(.{8})/\\1-/'",
        "grep -qs \"$1\" \"$2\"", "tail -n 1 shown", "cut -d' ' -f2",
        "curl -sS --fail-with-body -X PUT url -d '{}'", "hansard log verify --data hansard-data", "jq --arg a b .",
        "kill $stream; wait $app", "xargs -n 1 echo", "openssl dgst -sha256 -r", "cat >a.py <<'PYTHON'\ndate --x\nPYTHON",
        "echo ${1:-} ${name%#*} ${name##*/} \"${@:5}\"", "[ \"$a\" ] && b || c", "find . -name '*.md'",
    ],
)
def test_what_is_portable_is_not_found(command):
    assert not_portable(command) == []
