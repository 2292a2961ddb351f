"""The programs of the package in `push`: the stand-in for the push services, and the bare client with which the server is
compared."""

import os
import pathlib

from streams.program import Program

PROVIDERS = ("apns", "fcm", "webPush")
NAMES = {"apns": "APNs", "fcm": "FCM", "webPush": "Web Push"}
# How many requests of one provider the server has in flight (`PushProviders.inFlight`).
IN_FLIGHT = 256


def executable(name):
    return pathlib.Path(os.environ["PUSH_BIN"], name)


class StandIn(Program):
    """APNs, FCM and a push service of browsers, on one port."""

    def __init__(self, world):
        made = world.certificate
        program = executable("push-stand-in")
        super().__init__(program, program, made.certificate, made.key, world.service_port)
        self.report()

    def begin(self, keep=False):
        """Counts from here."""
        self.perform(begin=True, keep=keep)

    def arrived(self):
        """What has arrived, by provider."""
        return self.perform()["arrived"]

    def count(self, providers=PROVIDERS):
        arrived = self.arrived()
        return sum(arrived[provider]["count"] for provider in providers)


class BareClient(Program):
    """AsyncHTTPClient alone."""

    def __init__(self, world, connections=1):
        program = executable("bare-push-client")
        super().__init__(program, program, world.certificate.authority, connections)
        self.urls = world.urls

    def send(self, provider, recording, count, rate=0):
        """Sends recorded requests again, one after the other from the first, at a rate or as fast as possible."""
        report = self.perform(
            requests=str(recording), url=self.urls[provider], count=count, inFlight=IN_FLIGHT, rate=rate)
        if report["failed"]:
            raise SystemExit(f"{report['failed']} requests of the bare client failed")
