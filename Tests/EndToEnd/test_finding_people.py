"""Finding users by email address, external ID and the beginning of the nickname."""

import urllib.parse

import pytest

from harness.client import new_id
from harness.config import configured
from harness.people import PASSWORD, Person

LIMIT = 50
NICKNAME_BYTES = 128
EMAIL_BYTES = 254
# The members that one request adds to a new room, and the members of a user's rooms that a search looks at.
MEMBERS_ADDED = 100
ACQUAINTANCES = 2000


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with configured(tmp_path_factory.mktemp("people"), {"identity": {"guests": True}}) as world:
        yield world


@pytest.fixture(scope="module")
def open_world(tmp_path_factory):
    settings = {"people": {f"findBy{what}": "everyone" for what in ("Email", "ExternalId", "Nickname")}}
    with configured(tmp_path_factory.mktemp("open"), settings) as world:
        yield world


def found(api, **query) -> list[str]:
    return [user["id"] for user in api.get("/v1/users", **query)["users"]]


def person(world, nickname: str, **more) -> Person:
    """A user whom a service registers with what the test needs."""
    account = world.admin.post("/v1/accounts", {"id": new_id(), "nickname": nickname} | more)
    return Person(world.server, account, world.acting_as(account["id"]).post("/v1/sessions", {}))


def with_everything(world, nickname: str) -> tuple[Person, dict]:
    """A user who can be found in every way, and these ways."""
    email, external = f"{new_id()}@example.org", f"key/{new_id()}"
    user = person(world, nickname, email=email, password=PASSWORD, externalId=external)
    return user, {"email": email, "externalId": external, "nickname": nickname}


def test_users_who_share_a_room_are_found_in_every_way(world):
    anna = world.user("Anna")
    ben, ways = with_everything(world, f"Ben {new_id()}")
    for name, value in ways.items():
        assert found(anna, **{name: value}) == []
    room = anna.room("Tea", ben)
    for name, value in ways.items():
        page = anna.get("/v1/users", **{name: value})
        assert page == {"users": [anna.get(f"/v1/users/{ben.id}")]}, name
        assert ways["email"] not in str(page) and ways["externalId"] not in str(page)
    ben.post(f"{room.path}/leave")
    for name, value in ways.items():
        assert found(anna, **{name: value}) == []


def test_users_who_share_a_workspace_are_found_until_it_is_deleted(world):
    anna = world.user("Anna")
    ben, ways = with_everything(world, f"Ben {new_id()}")
    office = anna.workspace()
    office.take_in(world, ben)
    for name, value in ways.items():
        assert found(anna, **{name: value}) == [ben.id]
    anna.delete(office.path)
    for name, value in ways.items():
        assert found(anna, **{name: value}) == []


@pytest.mark.parametrize("knows_many", [False, True])
def test_a_guest_of_a_workspace_finds_nobody_in_it_until_they_share_a_room(world, knows_many):
    """A user who knows many is searched for in another way, by nickname."""
    ben, ways_to_ben = with_everything(world, f"Ben {new_id()}")
    guest, ways_to_guest = with_everything(world, f"Guest {new_id()}")
    if knows_many:
        get_to_know_many(world, guest)
    office = ben.workspace()
    office.take_in(world, guest, "guest")
    guest.refused("forbidden", "GET", f"{office.path}/members")
    for name in ways_to_ben:
        assert found(guest, **{name: ways_to_ben[name]}) == [], name
        assert found(ben, **{name: ways_to_guest[name]}) == [guest.id], name
    ben.put(f"{ben.channel(office).path}/members/{guest.id}")
    for name, value in ways_to_ben.items():
        assert found(guest, **{name: value}) == [ben.id], name


def get_to_know_many(world, user: Person) -> None:
    """The user gets rooms whose members together are more than those that are all looked at."""
    others = [world.admin.post("/v1/accounts", {"id": new_id(), "nickname": "Other"})["id"] for _ in range(MEMBERS_ADDED)]
    for _ in range(ACQUAINTANCES // MEMBERS_ADDED + 1):
        user.post("/v1/rooms", {"id": new_id(), "name": "Tea", "memberIds": others})


def test_a_deleted_room_is_not_shared(world):
    anna = world.user("Anna")
    ben, ways = with_everything(world, f"Ben {new_id()}")
    room = anna.room("Tea", ben)
    anna.delete(room.path)
    for name, value in ways.items():
        assert found(anna, **{name: value}) == []


def test_an_email_address_is_compared_as_at_login(world):
    anna, mark = world.user("Anna"), new_id()
    ben = person(world, "Ben", email=f"Jos\u00e9+{mark}@example.org", password=PASSWORD)
    anna.room("Tea", ben)
    for form in ("jos\u00e9", "JOSE\u0301"):
        assert found(anna, email=f"{form}+{mark}@EXAMPLE.org") == [ben.id]
    assert found(anna, email=f"jose+{mark}@example.org") == []
    address = urllib.parse.quote(f"jos\u00e9+{mark}@example.org")
    assert [user["id"] for user in anna.get(f"/v1/users?email={address}")["users"]] == [ben.id]


def test_nicknames_are_found_by_their_beginning_in_any_case_and_in_order(world):
    anna = world.user("Anna")
    others = {name: world.user(name) for name in ("Zoë Ölund", "ZOE B", "zoe a", "Zo", "Bozoe", "김민수", "김철수")}
    anna.room("Tea", *others.values())

    def names(beginning: str, **more) -> list[str]:
        return [user["nickname"] for user in anna.get("/v1/users", nickname=beginning, **more)["users"]]

    assert names("zoe") == ["zoe a", "ZOE B", "Zoë Ölund"]
    assert names("ZOE\u0308 O") == ["Zoë Ölund"]
    assert names("Zo") == ["Zo", "zoe a", "ZOE B", "Zoë Ölund"]
    assert names("김") == ["김민수", "김철수"]
    assert names("zoes") == names("%") == names("z_") == []
    first = anna.get("/v1/users", nickname="zo", limit=2)
    assert [user["nickname"] for user in first["users"]] == ["Zo", "zoe a"] and first["hasMore"] is True
    assert "hasMore" not in anna.get("/v1/users", nickname="zo", limit=4)
    others["Zo"].patch("/v1/me", {"nickname": "Yo"})
    assert names("zo", limit=1) == ["zoe a"] and names("yo") == ["Yo"]


def test_users_with_a_block_or_without_direct_messages_are_not_found(world):
    anna = world.user("Anna")
    ben, ways = with_everything(world, f"Ben {new_id()}")
    anna.room("Tea", ben)

    def agree(*expected: str) -> None:
        for name, value in ways.items():
            assert found(anna, **{name: value}) == list(expected), name

    agree(ben.id)
    for one, other in ((anna, ben), (ben, anna)):
        one.put(f"/v1/me/blocked-users/{other.id}")
        agree()
        one.delete(f"/v1/me/blocked-users/{other.id}")
        agree(ben.id)
    ben.patch("/v1/me/preferences", {"acceptsDirectMessages": False})
    agree()
    ben.patch("/v1/me/preferences", {"acceptsDirectMessages": True})
    agree(ben.id)


def test_disabled_and_deleted_users_and_the_caller_are_not_found_and_guests_are(world):
    anna = world.user("Anna")
    ben, ways = with_everything(world, f"Ben {new_id()}")
    room = anna.room("Tea", ben)
    for name, value in ways.items():
        assert found(ben, **{name: value}) == []
    world.admin.post(f"/v1/admin/users/{ben.id}/disable")
    for api in (anna, world.admin):
        for name, value in ways.items():
            assert found(api, **{name: value}) == []
    world.admin.post(f"/v1/admin/users/{ben.id}/enable")
    for name, value in ways.items():
        assert found(anna, **{name: value}) == [ben.id]
    direct = anna.direct(ben)
    world.admin.delete(f"/v1/admin/users/{ben.id}")
    assert anna.see(direct)["kind"] == "direct"
    for api in (anna, world.admin):
        for name, value in ways.items():
            assert found(api, **{name: value}) == []
    nickname = f"Guest {new_id()}"
    guest = world.nobody.post("/v1/accounts", {"id": new_id(), "nickname": nickname, "password": PASSWORD})
    anna.put(f"{room.path}/members/{guest['id']}")
    assert anna.get("/v1/users", nickname=nickname)["users"][0]["isGuest"] is True


def test_a_service_finds_everyone_and_in_a_users_name_whom_the_user_finds(world):
    anna = world.user("Anna")
    ben, ways = with_everything(world, f"Ben {new_id()}")
    ben.patch("/v1/me/preferences", {"acceptsDirectMessages": False})
    for name, value in ways.items():
        assert found(world.admin, **{name: value}) == [ben.id]
        assert found(world.acting_as(anna.id), **{name: value}) == []


def test_everyone_can_be_found_if_the_operator_says_so(open_world):
    anna = open_world.user("Anna")
    ben, ways = with_everything(open_world, f"Ben {new_id()}")
    for name, value in ways.items():
        assert found(anna, **{name: value}) == [ben.id]
    ben.put(f"/v1/me/blocked-users/{anna.id}")
    for name, value in ways.items():
        assert found(anna, **{name: value}) == []


def test_nobody_is_found_if_the_operator_says_so(tmp_path):
    settings = {"people": {f"findBy{what}": "nobody" for what in ("Email", "ExternalId", "Nickname")}}
    with configured(tmp_path, settings) as world:
        anna = world.user("Anna")
        ben, ways = with_everything(world, "Ben")
        anna.room("Tea", ben)
        for name, value in ways.items():
            query = urllib.parse.urlencode({name: value})
            anna.refused("finding_not_allowed", "GET", f"/v1/users?{query}")
            assert found(world.admin, **{name: value}) == [ben.id]
        assert found(anna, ids=ben.id) == [ben.id]


def test_malformed_searches_are_refused(world):
    anna = world.user("Anna")
    for query in (
        "", "email=", "externalId=", "nickname=", "nickname=%CC%81", "email=a@example.org&nickname=a",
        f"ids={anna.id}&nickname=a", "email=a@example.org&limit=1", f"ids={anna.id}&limit=1", "nickname=a&nickname=b",
        "nickname=a&limit=0", f"nickname=a&limit={LIMIT + 1}", "nickname=a&cursor=x",
    ):
        anna.refused("invalid_query", "GET", f"/v1/users?{query}")
    anna.get("/v1/users", nickname="a", limit=LIMIT)


@pytest.mark.parametrize(("name", "limit"), [("nickname", NICKNAME_BYTES), ("email", EMAIL_BYTES), ("externalId", 256)])
def test_the_length_of_what_is_searched_for(world, name, limit):
    anna = world.user("Anna")
    for size in (limit - 1, limit):
        assert found(anna, **{name: "x" * size}) == []
    anna.refused("invalid_query", "GET", f"/v1/users?{name}={'x' * (limit + 1)}")
