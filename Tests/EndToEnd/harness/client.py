"""A client of the API that checks every response against the contract."""

import json
import urllib.parse
import uuid

import requests

from .contract import REPLAYED, contract
from .errors import documented_codes
from .server import Server

TIMEOUT_SECONDS = 60
NDJSON = "application/x-ndjson"


def new_id() -> str:
    return str(uuid.uuid4())


class Api:
    """Sends the requests of one caller. Threads must not share it: each uses its own copy from `again()`."""

    def __init__(self, server: Server, token: str | None = None, act_as: str | None = None):
        self.server = server
        self.token = token
        self.act_as = act_as
        self.http = requests.Session()
        self.http.trust_env = False
        self.http.verify = server.authority or True

    def again(self) -> "Api":
        """The same caller with its own connection."""
        return Api(self.server, self.token, self.act_as)

    def request(self, method: str, path: str, body=None, *, data=None, key=None, headers=None, **options):
        """Sends `body` as JSON, or `data` unchanged, and checks the response against docs/openapi.yaml."""
        all_headers = {}
        if self.token is not None:
            all_headers["Authorization"] = f"Bearer {self.token}"
        if self.act_as is not None:
            all_headers["Hansard-Act-As"] = self.act_as
        if key is not None:
            all_headers["Idempotency-Key"] = key
        if body is not None:
            data = json.dumps(body, ensure_ascii=False).encode()
        if data is not None:
            all_headers["Content-Type"] = "application/json"
        all_headers.update(headers or {})
        url = self.server.url + path
        options.setdefault("timeout", TIMEOUT_SECONDS)
        response = self.http.request(method, url, data=data, headers=all_headers, **options)
        contract().check(method, url, response)
        return response

    def call(self, method: str, path: str, body=None, *, expect: int | None, **options) -> dict:
        """Expects 201 for something new, None also for a change, and 200 for a repeat if the operation records
        something."""
        response = self.request(method, path, body, **options)
        operation = contract().operation(method, urllib.parse.urlsplit(path).path)
        statuses = (200, 201) if expect is None else (expect,)
        assert response.status_code in statuses, (
            f"{method} {path}: {response.status_code} instead of {expect}: {response.text[:600]}"
        )
        if operation and operation.records:
            assert (REPLAYED in response.headers) == (expect == 200), f"{method} {path}: {response.headers}"
        return response.json()

    def get(self, path: str, **params) -> dict:
        # A space is %20: the server takes a plus sign as it is, because addresses can have one.
        given = {name: value for name, value in params.items() if value is not None}
        query = urllib.parse.urlencode(given, doseq=True, quote_via=urllib.parse.quote)
        return self.call("GET", path, expect=200, params=query)

    def post(self, path: str, body=None, *, expect: int | None = None, **options) -> dict:
        return self.call("POST", path, body, expect=expect, **options)

    def put(self, path: str, body=None, *, expect: int | None = None, **options) -> dict:
        return self.call("PUT", path, body, expect=expect, **options)

    def patch(self, path: str, body=None, *, expect: int | None = None, **options) -> dict:
        return self.call("PATCH", path, body, expect=expect, **options)

    def delete(self, path: str, *, expect: int | None = None, **options) -> dict:
        return self.call("DELETE", path, expect=expect, **options)

    def refused(self, code: str, method: str, path: str, body=None, **options) -> dict:
        """Expects the problem `code`, with the status that docs/errors.md lists for it."""
        response = self.request(method, path, body, **options)
        assert response.status_code >= 400, f"{method} {path}: {response.status_code} instead of the problem {code}"
        problem = response.json()
        assert problem["code"] == code, f"{method} {path}: {problem['code']} instead of {code}: {problem['detail']}"
        assert response.status_code == documented_codes()[code]
        return problem

    def ingest(self, lines: list[dict]) -> list[dict]:
        """Sends the lines in one request and returns the results in order."""
        return self.ingest_bytes("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode())

    def ingest_bytes(self, data: bytes) -> list[dict]:
        response = self.request("POST", "/v1/ingest", data=data, headers={"Content-Type": NDJSON}, timeout=300)
        assert response.status_code == 200, response.text[:600]
        return read_results(response.content)

    def ingest_all(self, lines: list[dict], each: int = 20_000) -> list[dict]:
        """Sends as many requests as needed. Every line must be recorded or a repeat. The `line` numbers start again in
        each."""
        results = []
        for start in range(0, len(lines), each):
            part = self.ingest(lines[start : start + each])
            assert len(part) == len(lines[start : start + each])
            bad = next((result for result in part if result["status"] not in (200, 201)), None)
            assert bad is None, bad
            results += part
        return results


def read_results(content: bytes) -> list[dict]:
    """The result lines, each checked against the contract."""
    results = [json.loads(line) for line in content.decode().splitlines()]
    for result in results:
        check_result(result)
    return results


def check_result(result: dict) -> None:
    contract().validate_named("IngestResult", result)
    if "code" in result:
        assert documented_codes().get(result["code"]) == result["status"], result
        contract().codes_seen.add(result["code"])
