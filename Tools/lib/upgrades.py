"""The part of Tools/upgrades that runs servers. HANSARD_BIN names the executable of this tree.

    upgrades.py check EARLIER COMMIT   upgrades data of the executable EARLIER, built from COMMIT, and rolls back
    upgrades.py record NAME            writes a data set for Tests/EndToEnd/test_upgrading.py
"""

import datetime
import pathlib
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "EndToEnd"))

from harness.command import hansard  # noqa: E402
from harness.places import hansard_binary  # noqa: E402
from harness.upgrades import DATA_SETS, check, executable, record, serving, write_data_set  # noqa: E402


def step(title: str, work) -> bool:
    """Does one step. A failed one says why, and the others follow."""
    try:
        work()
    except AssertionError as failure:
        print(f"FAILED  {title}\n{failure}", flush=True)
        return False
    print(f"ok      {title}", flush=True)
    return True


def check_both_ways(earlier: pathlib.Path, commit: str, folder: pathlib.Path) -> bool:
    current = hansard_binary()

    def recorded() -> dict:
        with executable(earlier):
            return record(folder / "data", {"commit": commit})

    def checked(program: pathlib.Path, data: str, reads: bool = True) -> None:
        with executable(program):
            check(folder / data, expected, reads)

    def only_opened() -> None:
        with executable(current), serving(folder / "opened"):
            pass
        checked(earlier, "opened")

    expected = recorded()
    for copy in ("opened", "written"):
        shutil.copytree(folder / "data", folder / copy)
    print(f"data of {commit}: {len(expected['responses'])} responses and {len(expected['retries'])} writes to compare")
    results = [
        step("upgrade", lambda: checked(current, "written")),
        step("roll back after the new version has written", lambda: checked(earlier, "written", reads=False)),
        step("upgrade again", lambda: checked(current, "written", reads=False)),
        step("roll back after the new version was only started", only_opened),
    ]
    return all(results)


def main() -> None:
    action, *arguments = sys.argv[1:]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="upgrades-"))
    try:
        if action == "check":
            earlier, commit = arguments
            sys.exit(0 if check_both_ways(pathlib.Path(earlier), commit, folder) else 1)
        (name,) = arguments
        version = hansard("--version", expect=None)
        origin = {
            "name": name, "date": datetime.date.today().isoformat(), "by": "Tools/upgrades record",
            "version": version.output.splitlines() if version.status == 0 else None}
        expected = record(folder / "data", origin)
        write_data_set(DATA_SETS / name, folder / "data", expected)
        print(f"wrote {(DATA_SETS / name).relative_to(ROOT)}")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
