"""Many clients follow over all transports while others write without a pause, through a kill and a stop of the server.

`Tools/mirrors` does the same with more clients and for longer.
"""

from harness.command import check_data
from harness.failing_disk import FailingDisk
from harness.mirrors.clients import KILL, STOP
from harness.mirrors.run import Plan, Run
from harness.mirrors.transports import TRANSPORTS
from harness.server import UNLIMITED, Server

PLAN = Plan(clients=48, seconds=3, kills=1, stops=1, seed=45, rate=200, token_seconds=6)
# The random time, and the second of `Retry-After` for a stream that was refused while the server stopped.
RESUME_MILLISECONDS = 10_000 + 1_000


def test_every_mirror_equals_what_the_endpoints_show(tmp_path):
    disk = FailingDisk(tmp_path)
    lifetime = f"--access-token-lifetime={PLAN.token_seconds}"
    server = Server(tmp_path / "data", lifetime, environment=UNLIMITED | disk.environment).start()
    run = Run(server, PLAN, disk=disk)
    try:
        run.perform()
    finally:
        server.end()
    situation = run.situation
    assert not situation.problems, run.problems()
    assert sorted(situation.endings) == [KILL, STOP]
    # Enough of everything has happened.
    assert set(situation.counts) == set(TRANSPORTS)
    for name, counts in situation.counts.items():
        assert min(counts["connects"], counts["left"] + counts["cut"] + counts["logouts"], counts["items"]) > 0, (name, counts)
    # Tokens expire, others are renewed within the stream, and clients log out; all of them continue from their cursors.
    for name in ("expired", "renewed", "logouts"):
        assert run.total(name) > 0, (name, situation.counts)
    assert run.writers.written.total() > 10 * run.writers.refused.total()
    # The clients come back at different times.
    times = situation.resume_after
    assert len(set(times)) > len(times) / 2 and 0 <= min(times) < max(times) <= RESUME_MILLISECONDS
    check_data(server.data)
