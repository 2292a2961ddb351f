"""Libraries that tests preload into the server."""

import pathlib
import shutil
import subprocess


def compile_library(source: pathlib.Path, directory: pathlib.Path) -> pathlib.Path:
    """Compiles a C file into a shared library in `directory`."""
    compiler = next((found for name in ("cc", "clang") if (found := shutil.which(name))), None)
    assert compiler, "no C compiler in PATH: install gcc, or put clang of the Swift toolchain into PATH"
    library = directory / f"{source.stem}.so"
    subprocess.run(
        [compiler, "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library
