"""Finds what is not in every reader's shell: options that only GNU's tools have, programs that only Linux has, and what
bash 3.2, which is the bash of macOS, does not know. The tests run the pages in zsh too, which finds the rest."""

import re

# Tools whose long options and some short options exist only in GNU's version.
TOOLS = (
    "basename cat chmod cp cut date dirname du find grep head join ls mkdir mktemp mv od paste readlink rm sed seq sleep sort "
    "split stat tail tee touch tr uniq wc xargs")
# What to find, and what it is. A command ends at the next `|`, `;`, `&` or bracket.
TOOL = rf"(?<![\w.-])(?:{'|'.join(TOOLS.split())})\b"
REST = r"[^|;&()\n]*?"
NOT_PORTABLE = {
    rf"{TOOL}{REST} --[a-z]": "a long option, which only GNU's version has",
    rf"\bdate\b{REST} -(?:[a-zA-Z]*d|I)": "date -d and -I are GNU's: use jq's now, strftime and todate",
    rf"\bdate\b{REST}%N": "date has no %N on macOS",
    rf"\bsed\b{REST} -[a-zA-Z]*[izs]": "sed -i takes a suffix on macOS, and -z and -s are GNU's",
    r"\bsed\b[^\n]*?\\[rt+?]": "an escape in a pattern of sed that only GNU's sed knows",
    r"\bsed\b[^\n]*?/[gp0-9]*[IM]": "a flag of s/// that only GNU's sed has",
    rf"\bbase64\b{REST} -(?:-|[a-zA-Z]*[wi])": "base64 -w is GNU's: use openssl base64 -A",
    rf"\b(?:readlink|realpath)\b{REST} -[a-zA-Z]*[fem]": "readlink -f is GNU's",
    rf"\bgrep\b{REST} -[a-zA-Z]*P": "grep -P is GNU's: use grep -E or sed",
    rf"\b(?:head|tail)\b{REST} -[nc] ?-": "head -n -N is GNU's",
    rf"\bstat\b{REST} -[a-zA-Z]*c": "stat -c is GNU's",
    rf"\bxargs\b{REST} -[a-zA-Z]*[rd]": "xargs -r and -d are GNU's",
    rf"\bfind\b{REST} -printf": "find -printf is GNU's",
    rf"\b(?:cp|rm|mv|ln)\b{REST} -[a-zA-Z]*t\b": "-t is GNU's",
    r"(?<![\w./-])(?:md5sum|nproc|numfmt|realpath|sha1sum|sha256sum|shuf|tac|timeout|truncate)(?![\w-])":
        "a program that macOS does not have",
    r"/proc/|/sys/": "a folder that only Linux has",
    r"\b(?:declare|local|typeset) -[a-z]*[An]\b": "associative arrays and references, which bash 3.2 does not have",
    r"\b(?:mapfile|readarray|coproc)\b": "a builtin that bash 3.2 does not have",
    r"\$\{\w+(?:,|\^|@[A-Za-z])": "an expansion that bash 3.2 does not have",
    r"\|&|&>>|;;?&(?!\w)": "an operator that bash 3.2 does not have",
    r"\bwait -n|\[\[ -v |\bshopt -s globstar|printf '%\(|\$\{?(?:EPOCH|BASHPID)": "something that bash 3.2 does not have",
    r"%header\{": "a variable that curl 7.76 does not have",
}
# Programs in other languages, which begin with a line such as `cat >name <<'PYTHON'`.
PROGRAM = re.compile(r"^([^\n]*<<'?(\w+)'?[^\n]*\n)(.*?)^\2$", re.DOTALL | re.MULTILINE)


def without_programs(commands: str) -> str:
    """The commands, with empty lines instead of the programs that they write to files."""
    return PROGRAM.sub(lambda match: match[1] + "\n" * match[3].count("\n"), commands)


def not_portable(commands: str) -> list[str]:
    """What is not portable in commands of a shell, each with its line, counted from 1."""
    text = without_programs(commands)
    found = []
    for pattern, reason in NOT_PORTABLE.items():
        for match in re.finditer(pattern, text):
            found.append(f"line {text.count(chr(10), 0, match.start()) + 1}: {match[0]!r}: {reason}")
    return found
