"""A change with `If-Match` is applied only if that revision is current."""

import datetime
import threading

import pytest

from harness.cases import Effect
from harness.client import new_id
from harness.contract import contract
from harness.people import World

WRITERS = 8
TAKE_IT = [operation for operation in contract().operations if operation.takes("ifMatch")]


def matching(*revisions) -> dict:
    return {"If-Match": ", ".join(f'"{revision}"' for revision in revisions)}


class Resource:
    """Something with a revision: where it is read, the request that changes its revision, and its other requests."""

    def __init__(self, person, path: str, change: tuple, *others: tuple):
        self.person = person
        self.path = path
        # Method, path suffix, and a function that makes the body from the number of the change.
        self.change = change
        self.others = others

    def seen(self) -> dict:
        return self.person.get(self.path)

    @property
    def revision(self) -> int:
        return self.seen()["revision"]

    def request(self, change: tuple, number: int = 0, **options):
        method, after, body = change
        return self.person.again().request(method, self.path + after, body and body(number), **options)

    def changed(self, number: int = 0, **options) -> dict:
        response = self.request(self.change, number, **options)
        assert Effect.of_response(response) == Effect.RECORDED, response.text
        return response.json()


def account(world) -> Resource:
    return Resource(world.user(), "/v1/me", ("PATCH", "", lambda number: {"nickname": f"Anna {number}"}))


def device(world) -> Resource:
    anna, path = world.user(), f"/v1/devices/{new_id()}"
    anna.put(path, {"name": "phone"})
    return Resource(anna, path, ("PUT", "", lambda number: {"name": f"phone {number}"}), ("DELETE", "", None))


def topic_edit(number: int) -> dict:
    return {"topic": f"topic {number}"}


def room(world) -> Resource:
    anna = world.user()
    path = anna.room().path
    archive, unarchive = ("POST", "/archive", None), ("POST", "/unarchive", None)
    return Resource(anna, path, ("PATCH", "", topic_edit), archive, unarchive, ("DELETE", "", None))


def workspace(world) -> Resource:
    anna = world.user()
    return Resource(anna, anna.workspace().path, ("PATCH", "", topic_edit), ("DELETE", "", None))


def text(number: int) -> dict:
    return {"text": f"text {number}"}


def message(world) -> Resource:
    anna = world.user()
    room = anna.room()
    sent = anna.send(room, "tea?")
    return Resource(anna, room.message(sent["id"]), ("PATCH", "", text), ("DELETE", "", None))


def scheduled_message(world) -> Resource:
    anna = world.user()
    time = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
    path = f"{anna.room().path}/scheduled-messages/{new_id()}"
    anna.put(path, {"text": "tea!", "sendAt": time.isoformat().replace("+00:00", "Z")})
    return Resource(anna, path, ("PATCH", "", text), ("DELETE", "", None))


def report(world) -> Resource:
    anna, ben = world.users("Anna", "Ben")
    path = f"{anna.room('Tea', ben).path}/reports"
    path += "/" + ben.post(path, {"userId": anna.id, "reason": "spam"})["id"]
    # Anna cannot see reports about herself.
    resolve = ("POST", "/resolve", lambda number: {"outcome": "other", "note": f"note {number}"})
    resource = Resource(world.admin, path, resolve, ("POST", "/reopen", None))
    resource.changed(0)
    return resource


RESOURCES = [account, device, room, workspace, message, scheduled_message, report]


def by_name(made) -> str:
    return made.__name__


def test_every_operation_that_takes_it_is_tried_here(world):
    tried = set()
    for make in RESOURCES:
        resource = make(world)
        for method, after, _ in (resource.change, *resource.others):
            tried |= {
                operation.id for operation in TAKE_IT
                if operation.method == method and operation.pattern.fullmatch(resource.path + after)
            }
    assert tried == {operation.id for operation in TAKE_IT}


@pytest.mark.parametrize("make", RESOURCES, ids=by_name)
def test_a_change_with_an_outdated_revision_is_refused(world, make):
    resource = make(world)
    first = resource.revision
    second = resource.changed(1, headers=matching(first))["revision"]
    assert second == resource.revision > first
    before, head = resource.seen(), world.head
    for stale in (first, second + 1, 0):
        for change in (resource.change, *resource.others):
            if change[1] == "/unarchive":
                # The room is not archived, so the request changes nothing and has nothing to reject.
                continue
            response = resource.request(change, 2, headers=matching(stale))
            assert (response.status_code, response.json()["code"]) == (412, "revision_mismatch"), change
    assert resource.seen() == before and world.head == head, "a refused change changes nothing"
    resource.changed(3, headers=matching(first, second))
    resource.changed(4, headers={"If-Match": "*"})
    resource.changed(5)


@pytest.mark.parametrize("make", RESOURCES, ids=by_name)
def test_of_concurrent_edits_of_one_revision_one_succeeds(world, make):
    resource = make(world)
    headers = matching(resource.revision)
    barrier, codes = threading.Barrier(WRITERS), []

    def write(number: int) -> None:
        barrier.wait()
        codes.append(resource.request(resource.change, number, headers=headers).status_code)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(1, WRITERS + 1)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(codes) == [200] + [412] * (WRITERS - 1)


@pytest.mark.parametrize("make", RESOURCES, ids=by_name)
def test_a_repeat_gets_the_first_response(world, make):
    resource = make(world)
    key, headers = new_id(), matching(resource.revision)
    first = resource.changed(1, key=key, headers=headers)
    resource.changed(2)
    now = resource.seen()
    again = resource.request(resource.change, 1, key=key, headers=headers)
    assert (Effect.of_response(again), again.json()["position"]) == (Effect.REPEATED, first["position"])
    assert resource.seen() == now
    assert again.json()["revision"] == first["revision"] < now["revision"]


@pytest.mark.parametrize("make", RESOURCES, ids=by_name)
def test_every_other_change_checks_the_revision_too(world, make):
    resource = make(world)
    for change in resource.others:
        before = resource.revision
        response = resource.request(change, headers=matching(before))
        assert Effect.of_response(response) == Effect.RECORDED, response.text
        if change[1]:
            assert resource.revision == response.json()["revision"] > before


@pytest.mark.parametrize("kill", [False, True], ids=["stopped", "killed"])
def test_revisions_outlast_a_restart(own_server, kill):
    world = World(own_server)
    resources = [make(world) for make in RESOURCES]
    for resource in resources:
        resource.changed(1)
    archived = room(world)
    archived.request(archived.others[0])
    revisions = [resource.revision for resource in (*resources, archived)]
    own_server.kill() if kill else own_server.stop()
    own_server.start()
    assert [resource.revision for resource in (*resources, archived)] == revisions
    for resource, revision in zip(resources, revisions):
        response = resource.request(resource.change, 2, headers=matching(revision - 1))
        assert response.status_code == 412
        resource.changed(2, headers=matching(revision))
    assert archived.request(archived.others[1], headers=matching(revisions[-1] - 1)).status_code == 412
    assert archived.request(archived.others[1], headers=matching(revisions[-1])).status_code == 200


def test_a_change_without_effect_makes_no_revision(world):
    """Archiving an archived room, with a key and without, changes no revision, and the shown revision is the current
    one."""
    resource = room(world)
    archive, unarchive = resource.others[:2]
    archived = resource.request(archive).json()["revision"]
    assert resource.request(archive).json()["revision"] == resource.revision == archived
    assert Effect.of_response(resource.request(archive, key=new_id())) == Effect.RECORDED
    assert resource.revision == archived
    opened = resource.request(unarchive, headers=matching(archived)).json()
    assert opened["revision"] == resource.revision > archived
    again = resource.request(unarchive).json()
    assert (again["revision"], again["archivedAt"]) == (opened["revision"], None)


def test_a_missing_object_matches_no_revision(world):
    anna = world.user()
    path = f"/v1/devices/{new_id()}"
    for header in ("*", '"1"'):
        anna.refused("revision_mismatch", "PUT", path, {"name": "phone"}, headers={"If-Match": header})
    anna.refused("device_not_found", "GET", path)


def test_an_invisible_object_is_not_found_at_any_revision(world):
    ben = world.user("Ben")
    for resource in (room(world), message(world), scheduled_message(world), workspace(world)):
        code = "workspace_not_found" if "/workspaces/" in resource.path else "room_not_found"
        method, after, body = resource.change
        for headers in ({"If-Match": "*"}, matching(resource.revision), matching(0)):
            ben.refused(code, "DELETE", resource.path, headers=headers)
            ben.refused(code, method, resource.path + after, body(1), headers=headers)


def test_a_message_in_the_list_says_the_revision_that_it_is_at(world):
    resource = message(world)
    resource.changed(1)
    listed = resource.person.get(resource.path.rsplit("/", 1)[0])["messages"]
    assert [shown["revision"] for shown in listed] == [resource.revision]
