#!/usr/bin/env python3
"""Installs, starts, upgrades, removes and purges the Debian package in a new Debian tree with its own systemd:

    package_test.py PACKAGE LATER

LATER is the same package with a later version. The tree comes from the mirror that this machine's apt uses, and systemd-nspawn
boots it with a network of its own. Prints one line for each step, and ends with an error at the first that fails.
"""

import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import zlib

WAIT_SECONDS = 120
PORT = 8080
DATA = "/var/lib/hansard"
SETTINGS = "/etc/hansard/hansard.json"
VERIFIER = "/usr/share/hansard/verify_log.py"
COPYRIGHT = "/usr/share/doc/hansard/copyright"
# From 0 (nothing can be done to the system) to 100; see systemd-analyze(1).
MAXIMUM_EXPOSURE = 20
PASSWORD = "correct horse battery"
ROOM = "018f2f4e-7777-7abc-8def-0123456789ab"
MESSAGE = "018f2f4f-0000-7000-8000-000000000001"
IMAGE_SIDE = 256


def output(*command, stdin: bytes | None = None) -> str:
    """Runs a command and returns what it prints. If it fails, so does the test."""
    done = subprocess.run([str(part) for part in command], input=stdin, capture_output=True)
    if done.returncode != 0:
        text = (done.stdout + done.stderr).decode(errors="replace")[-3000:]
        sys.exit(f"error: {' '.join(map(str, command))} ended with {done.returncode}:\n{text}")
    return done.stdout.decode()


def image() -> bytes:
    """A black PNG; see https://www.w3.org/TR/png/."""
    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    header = struct.pack(">IIBBBBB", IMAGE_SIDE, IMAGE_SIDE, 8, 0, 0, 0, 0)
    rows = zlib.compress(bytes((IMAGE_SIDE + 1) * IMAGE_SIDE))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def wait_until(done, failure: str):
    deadline = time.monotonic() + WAIT_SECONDS
    while not (result := done()):
        if time.monotonic() > deadline:
            sys.exit(f"error: {failure} in {WAIT_SECONDS} s")
        time.sleep(0.1)
    return result


def free_port() -> int:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        return holder.getsockname()[1]


def step(title: str) -> None:
    print(f"ok  {title}", flush=True)


def require(condition: bool, failure: str) -> None:
    if not condition:
        sys.exit(f"error: {failure}")


class Tree:
    """A Debian system in a folder."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.process: subprocess.Popen | None = None
        self.leader = 0

    def make(self) -> None:
        """The same release as this machine, from the same mirror."""
        release = dict(
            line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text().splitlines() if "=" in line)
        name = release["VERSION_CODENAME"].strip('"')
        targets = output("apt-get", "indextargets", "--format", "$(RELEASE) $(COMPONENT) $(REPO_URI)").splitlines()
        mirrors = [uri for suite, component, uri in map(str.split, targets) if (suite, component) == (name, "main")]
        require(bool(mirrors), f"apt has no source for the release {name}")
        output("debootstrap", "--variant=minbase", "--include=systemd-sysv,dbus", name, self.folder, mirrors[0])

    def inside(self, *command) -> str:
        """Runs a command in the tree before it is booted, with this machine's network."""
        return output("systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--directory", self.folder, *command)

    def boot(self) -> None:
        self.process = subprocess.Popen(
            ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network", "--boot", "--directory",
             str(self.folder)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        self.leader = int(wait_until(lambda: children.read_text().split(), "the tree did not boot")[0])
        wait_until(lambda: self.state("basic.target") == "active", "systemd did not start")

    def state(self, unit: str) -> str:
        return self.run("sh", "-c", f"systemctl is-active {unit} 2>&1 || true").strip()

    def run(self, *command) -> str:
        """Runs a command in the booted tree."""
        return output("nsenter", "--target", self.leader, "--all", "env", "DEBIAN_FRONTEND=noninteractive", *command)

    def request(self, method: str, path: str, *options, body=None, data: bytes | None = None, status: int) -> bytes:
        """Sends a request with this machine's curl, because the tree has none."""
        if body is not None:
            options += ("--header", "Content-Type: application/json")
            data = json.dumps(body).encode()
        if data is not None:
            options += ("--data-binary", "@-")
        done = subprocess.run(
            ["nsenter", "--target", str(self.leader), "--net", "curl", "--silent", "--request", method, *options,
             "--write-out", "\n%{http_code}", f"http://127.0.0.1:{PORT}{path}"], input=data, capture_output=True)
        content, _, found = done.stdout.rpartition(b"\n")
        require(found == str(status).encode(), f"{method} {path}: {found.decode()} {content[:600]!r}")
        return content

    def process_of_service(self) -> int:
        return int(self.run("systemctl", "show", "--property=MainPID", "--value", "hansard"))

    def is_ready(self) -> bool:
        done = subprocess.run(
            ["nsenter", "--target", str(self.leader), "--net", "curl", "--silent", "--fail", "--output", "/dev/null",
             f"http://127.0.0.1:{PORT}/readyz"])
        return done.returncode == 0

    def until_ready(self) -> None:
        wait_until(self.is_ready, f"the server was not ready:\n{self.state('hansard')}")

    def end(self) -> None:
        if self.process is not None:
            # systemd halts the tree; see the section on signals in systemd(1).
            os.kill(self.process.pid, 15)
            self.process.wait()
        shutil.rmtree(self.folder.parent)


class Client:
    """The requests of a user, before and after each change of the package."""

    def __init__(self, tree: Tree):
        self.tree = tree
        self.token: tuple[str, str] = ("", "")

    def write(self) -> None:
        account = {"email": "anna@example.org", "password": PASSWORD, "nickname": "Anna"}
        self.tree.request("POST", "/v1/accounts", body=account, status=201)
        self.log_in()
        self.tree.request("POST", "/v1/rooms", *self.token, body={"id": ROOM, "name": "Tea"}, status=201)
        path = f"/v1/rooms/{ROOM}/messages/{MESSAGE}"
        self.tree.request("PUT", path, *self.token, body={"text": "The kettle is on."}, status=201)

    def log_in(self) -> None:
        login = {"email": "anna@example.org", "password": PASSWORD}
        tokens = json.loads(self.tree.request("POST", "/v1/sessions", body=login, status=201))
        self.token = ("--header", f"Authorization: Bearer {tokens['accessToken']}")

    def thumbnail(self) -> None:
        """The programs that read images run within the service's sandbox."""
        upload = json.loads(self.tree.request("POST", "/v1/media", *self.token, data=image(), status=201))
        require(upload["width"] == IMAGE_SIDE, f"the image was not read: {upload}")
        thumbnail = self.tree.request("GET", f"/v1/media/{upload['id']}/thumbnail?width=64", *self.token, status=200)
        require(thumbnail != image(), "the image has no thumbnail of its own")

    def read(self) -> None:
        page = json.loads(self.tree.request("GET", f"/v1/rooms/{ROOM}/messages", *self.token, status=200))
        require([message["id"] for message in page["messages"]] == [MESSAGE], f"the message is not there: {page}")


def check_installation(tree: Tree) -> None:
    require(tree.state("hansard") == "active", "the service does not run")
    require(tree.run("systemctl", "is-enabled", "hansard").strip() == "enabled", "the service is not enabled")
    tree.until_ready()
    require(tree.run("ps", "-o", "user=", "-p", tree.process_of_service()).strip() == "hansard", "another user runs it")
    modes = tree.run("stat", "--format", "%A %U:%G", DATA, "/etc/hansard", SETTINGS).split("\n")
    require(
        modes[:3] == ["drwx------ hansard:hansard", "drwxr-x--- root:hansard", "-rw-r----- root:hansard"],
        f"modes are {modes}")
    tree.run("systemd-analyze", "verify", "hansard.service")
    tree.run("systemd-analyze", "security", f"--threshold={MAXIMUM_EXPOSURE}", "--no-pager", "hansard.service")


def change_settings(tree: Tree) -> str:
    """As an operator does, who must find the file again as it was."""
    file = tree.folder / SETTINGS[1:]
    text = json.dumps(json.loads(file.read_text()) | {"log": {"access": True}})
    file.write_text(text)
    tree.run("systemctl", "restart", "hansard")
    tree.until_ready()
    return text


def run_image(tree: Tree, package: pathlib.Path) -> None:
    """Makes the image of Tools/packaging/Containerfile with the tree, which is not booted yet, as its base, and runs it."""
    folder = tree.folder.parent
    for name in ("context", "images"):
        (folder / name).mkdir()
    shutil.copy(package, folder / "context")
    output("tar", "--create", "--file", folder / "base.tar", "--directory", tree.folder, ".")
    buildah = ["buildah", "--storage-driver", "vfs", "--root", folder / "images", "--runroot", folder / "run"]
    base = output(*buildah, "from", "scratch").strip()
    output(*buildah, "add", "--quiet", base, folder / "base.tar", "/")
    output(*buildah, "commit", "--quiet", base, "debian-tree")
    output(
        *buildah, "bud", "--isolation", "chroot", "--build-arg", "BASE=localhost/debian-tree", "--file",
        pathlib.Path(__file__).parent.parent / "packaging" / "Containerfile", "--tag", "hansard", folder / "context")
    container = output(*buildah, "from", "localhost/hansard").strip()
    port = free_port()
    command = [
        *buildah, "run", "--isolation", "chroot", "--env", f"HANSARD_LISTEN=127.0.0.1:{port}", container, "hansard",
        "serve", "--config", SETTINGS]
    server = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}/readyz"
        wait_until(
            lambda: subprocess.run(["curl", "--silent", "--fail", "--output", "/dev/null", url]).returncode == 0,
            "the server in the image was not ready")
    finally:
        server.terminate()
        server.wait()
    output(*buildah, "rm", "--all")
    output(*buildah, "rmi", "--all", "--force")


def leftovers(tree: Tree) -> str:
    """Files with the package's name, apart from the archives and the logs of the package tools."""
    return tree.run(
        "find", "/", "-xdev", "(", "-path", "/proc", "-o", "-path", "/root", "-o", "-path", "/var/cache", "-o", "-path",
        "/var/log", ")", "-prune", "-o", "-name", "*hansard*", "-print")


def test(tree: Tree, package: pathlib.Path, later: pathlib.Path) -> None:
    tree.make()
    run_image(tree, package)
    step("an image with the package serves")
    for path, name in ((package, "first.deb"), (later, "later.deb")):
        shutil.copy(path, tree.folder / "root" / name)
    # The booted tree has no network.
    tree.inside("apt-get", "install", "--yes", "--download-only", "/root/first.deb", "procps", "python3-lz4")
    tree.boot()
    tree.run("apt-get", "install", "--yes", "procps", "python3-lz4")
    step("a new Debian tree boots")

    tree.run("apt-get", "install", "--yes", "/root/first.deb")
    check_installation(tree)
    step("the package is installed, and its service runs with its own user in its sandbox")
    client = Client(tree)
    client.write()
    client.thumbnail()
    client.read()
    step("clients write and read, and images have thumbnails")
    tree.run("runuser", "-u", "hansard", "--", VERIFIER, "--data", DATA)
    require((tree.folder / COPYRIGHT[1:]).is_file(), "the package does not say who has the copyright")
    step("the verifier of the package finds the log intact")

    settings, before = change_settings(tree), tree.process_of_service()
    tree.run("apt-get", "install", "--yes", "/root/later.deb")
    tree.until_ready()
    require(tree.process_of_service() not in (0, before), "the upgrade did not restart the service")
    client.read()
    require((tree.folder / SETTINGS[1:]).read_text() == settings, "the upgrade changed the settings")
    step("an upgrade restarts the service and keeps data, sessions and settings")

    tree.run("kill", "-9", tree.process_of_service())
    tree.until_ready()
    client.read()
    step("systemd starts a killed server again")

    tree.run("apt-get", "remove", "--yes", "hansard")
    require(tree.state("hansard") == "inactive", "the service still runs")
    require(not (tree.folder / "usr/bin/hansard").exists(), "the executable is still there")
    require((tree.folder / f"{DATA[1:]}/log").is_dir(), "the data is gone")
    tree.run("apt-get", "install", "--yes", "/root/later.deb")
    tree.until_ready()
    client.read()
    require((tree.folder / SETTINGS[1:]).read_text() == settings, "a removal and a new installation changed the settings")
    step("a removal keeps data and settings for a new installation")

    tree.run("apt-get", "purge", "--yes", "hansard")
    require(not leftovers(tree), f"a purge left files: {leftovers(tree)}")
    step("a purge leaves nothing")


def main() -> None:
    package, later = map(pathlib.Path, sys.argv[1:])
    require(os.geteuid() == 0, "making and booting a Debian tree needs root")
    tree = Tree(pathlib.Path(tempfile.mkdtemp(prefix="hansard-package-")) / "tree")
    try:
        test(tree, package, later)
    finally:
        tree.end()


if __name__ == "__main__":
    main()
