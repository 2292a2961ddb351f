"""The push services that a guide's settings name. What arrives is recorded for the commands `pushes` and `pushed`."""

import json
import pathlib

from .certificates import Authority
from .push_apns import Apns, ApnsPush
from .push_fcm import Fcm, FcmPush

STAND_INS = {"apns": Apns, "fcm": Fcm}
RECORD = "pushed.jsonl"


class GuidePushServices:
    """A stand-in for each provider that the settings name. It demands what the real one does."""

    def __init__(self, settings: dict, folder: pathlib.Path):
        self.settings = settings
        self.folder = folder
        self.record = folder / RECORD
        self.record.touch()
        self.authority = Authority(folder / "push")
        providers = settings.get("push", {})
        self.services = {name: kind(self.authority) for name, kind in STAND_INS.items() if name in providers}
        for service in self.services.values():
            service.on_push = self.write

    def write(self, push: ApnsPush | FcmPush) -> None:
        content = push.payload if isinstance(push, ApnsPush) else push.body
        line = json.dumps({"token": push.token, "notification": content}, ensure_ascii=False) + "\n"
        # One write, so that no reader sees a part of a line.
        with self.record.open("ab", buffering=0) as record:
            record.write(line.encode())

    def configuration(self) -> dict:
        """The page's settings, with the addresses of the stand-ins and the keys that they know. All else in them is the
        page's own."""
        settings = json.loads(json.dumps(self.settings))
        if not self.services:
            return settings
        push = settings["push"]
        push["authoritiesFile"] = str(self.authority.file)
        if apns := self.services.get("apns"):
            apns.topics = {push["apns"]["topic"]}
            push["apns"] |= {"keyFile": self.key_file("apns.p8", apns.key_pem), "productionURL": apns.url}
        if fcm := self.services.get("fcm"):
            account = json.dumps(fcm.service_account).encode()
            push["fcm"] |= {"keyFile": self.key_file("account.json", account), "url": fcm.url}
        return settings

    def key_file(self, name: str, content: bytes) -> str:
        path = self.authority.folder / name
        path.write_bytes(content)
        path.chmod(0o600)
        return str(path)

    def __enter__(self) -> "GuidePushServices":
        return self

    def __exit__(self, *_) -> None:
        for service in self.services.values():
            service.close()

    @property
    def faults(self) -> list[str]:
        return [f"{name}: {fault}" for name, service in self.services.items() for fault in service.faults]
