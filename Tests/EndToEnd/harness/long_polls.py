"""Requests of `GET /v1/sync` that are known to wait."""

import concurrent.futures
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from harness.client import Api

# `Limits.streamsOfUser`.
STREAMS_OF_USER = 64
# Longer than the server waits for requests when it stops.
WAIT_SECONDS = 50


@contextmanager
def waiting_requests(api: Api, cursor: str) -> Iterator[list[Future]]:
    """As many requests as can wait for one user. One more is refused, which shows that the others wait."""

    def wait():
        return api.again().request("GET", "/v1/sync", params={"since": cursor, "wait": WAIT_SECONDS})

    with concurrent.futures.ThreadPoolExecutor(STREAMS_OF_USER + 1) as pool:
        requests = [pool.submit(wait) for _ in range(STREAMS_OF_USER + 1)]
        (refused,) = concurrent.futures.wait(requests, return_when=concurrent.futures.FIRST_COMPLETED).done
        assert (refused.result().status_code, refused.result().json()["code"]) == (429, "too_many_streams")
        yield [each for each in requests if each is not refused]
