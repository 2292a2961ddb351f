"""A server that collects unreferenced uploads after a short time."""

from harness import times
from harness.server import UNLIMITED, Server

COLLECTED_AFTER_SECONDS = 2
# After this time, at least one more round of the collection has run.
ROUNDS_SECONDS = 4
SETTINGS = UNLIMITED | {"HANSARD_MEDIA_UNREFERENCED_AGE": str(COLLECTED_AFTER_SECONDS)}


def files(server: Server) -> int:
    return sum(path.is_file() for path in (server.data / "media").glob("??/*"))


def held(person, content: bytes, method: str, path: str, body) -> str:
    """Uploads the file, and makes the request that refers to it before the file is collected."""
    def attempt() -> str | None:
        response = person.request("POST", "/v1/media", data=content)
        assert response.status_code in (200, 201), response.text[:600]
        media = response.json()["id"]
        response = person.request(method, path, body(media))
        assert response.status_code in (200, 201) or response.json()["code"] == "media_not_found", response.text[:600]
        return media if response.status_code in (200, 201) else None

    return times.within(COLLECTED_AFTER_SECONDS, attempt)


def with_file(media: str) -> dict:
    return {"attachments": [{"mediaId": media, "name": "leaves.txt"}]}
