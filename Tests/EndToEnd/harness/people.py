"""Short ways to create and use users, rooms and messages."""

from .client import Api, new_id
from .issuer import Issuer
from .server import Server

PASSWORD = "correct horse battery"


class Room:
    def __init__(self, id: str):
        self.id = id
        self.path = f"/v1/rooms/{id}"

    def message(self, id: str) -> str:
        return f"{self.path}/messages/{id}"


class Workspace:
    def __init__(self, id: str):
        self.id = id
        self.path = f"/v1/workspaces/{id}"

    def take_in(self, world: "World", person: "Person", role: str = "member") -> None:
        """Adds the person: a service joins the workspace as the person, then the owner sets the role."""
        world.acting_as(person.id).post(f"{self.path}/join")
        if role != "member":
            owner = world.acting_as(self.owner(world, person))
            owner.put(f"{self.path}/members/{person.id}/role", {"role": role})

    def owner(self, world: "World", member: "Person") -> str:
        members = world.acting_as(member.id).get(f"{self.path}/members", limit=200)["members"]
        return next(each["user"]["id"] for each in members if each["role"] == "owner")


class Person(Api):
    """A user with an access token."""

    def __init__(self, server: Server, account: dict, tokens: dict, password: str | None = None):
        super().__init__(server, tokens["accessToken"])
        self.id = account["id"]
        self.nickname = account["nickname"]
        self.email = account["email"]
        self.password = password
        self.tokens = tokens

    def room(self, name: str = "Tea", *members: "Person", kind: str | None = None) -> Room:
        body = {"id": new_id(), "name": name} | ({"kind": kind} if kind else {})
        room = Room(self.post("/v1/rooms", body)["id"])
        for member in members:
            self.put(f"{room.path}/members/{member.id}")
        return room

    def workspace(self, name: str = "Office") -> Workspace:
        return Workspace(self.post("/v1/workspaces", {"id": new_id(), "name": name})["id"])

    def channel(self, workspace: Workspace, name: str = "News", public: bool = True) -> Room:
        body = {"id": new_id(), "kind": "channel", "name": name, "workspaceId": workspace.id, "isPublic": public}
        return Room(self.post("/v1/rooms", body)["id"])

    def direct(self, *others: "Person", expect: int = 201) -> Room:
        body = {"kind": "direct", "memberIds": [other.id for other in others]}
        return Room(self.post("/v1/rooms", body, expect=expect)["id"])

    def send(self, room: Room, text: str, id: str | None = None, expect: int = 201) -> dict:
        return self.put(room.message(id or new_id()), {"text": text}, expect=expect)

    def see(self, room: Room) -> dict:
        return self.get(room.path)

    def unread(self, room: Room) -> int:
        return self.see(room)["unreadCount"]

    def texts(self, room: Room, **params) -> list[str]:
        return [message["text"] for message in self.get(f"{room.path}/messages", **params)["messages"]]


class World:
    """A server, and ways to create users on it."""

    def __init__(self, server: Server, issuer: Issuer | None = None):
        self.server = server
        # The issuer whose ID tokens the server accepts.
        self.issuer = issuer
        self.admin = Api(server, server.token)
        self.nobody = Api(server)

    def acting_as(self, user: str) -> Api:
        """A service that acts as the user."""
        return Api(self.server, self.server.token, act_as=user)

    def account(self, nickname: str = "Anna", **session) -> Person:
        """A user who registers and logs in with a password, as in an app."""
        email = f"{new_id()}@example.org"
        body = {"id": new_id(), "email": email, "password": PASSWORD, "nickname": nickname}
        account = self.nobody.post("/v1/accounts", body)
        return Person(self.server, account, self.login(email, **session), PASSWORD)

    def login(self, email: str, expect: int = 201, **session) -> dict:
        return self.nobody.post("/v1/sessions", {"email": email, "password": PASSWORD} | session, expect=expect)

    def user(self, nickname: str = "Anna", **session) -> Person:
        """A user whom a service registers and logs in. There is no password, which saves the time for hashing it."""
        account = self.admin.post("/v1/accounts", {"id": new_id(), "nickname": nickname})
        return Person(self.server, account, self.acting_as(account["id"]).post("/v1/sessions", session))

    def users(self, *nicknames: str) -> list[Person]:
        return [self.user(nickname) for nickname in nicknames]

    @property
    def head(self) -> int:
        return self.server.head()


def walk(api: Api, path: str, items: str, **params) -> list[dict]:
    """The items of all pages of a list with a `cursor`."""
    collected: list[dict] = []
    while True:
        page = api.get(path, **params)
        collected += page[items]
        if page["nextCursor"] is None:
            return collected
        params["cursor"] = page["nextCursor"]


def timeline(api: Api, room: str, limit: int = 200, down_to: int = 0) -> list[dict]:
    """All messages of a room, oldest first, paged from the newest. Stops early at a page that starts at or below
    `down_to`."""
    pages: list[list[dict]] = []
    params: dict = {"limit": limit}
    while True:
        page = api.get(f"/v1/rooms/{room}/messages", **params)
        pages.append(page["messages"])
        cursor = page["nextCursor"]
        if cursor is None or (page["messages"] and page["messages"][0]["position"] <= down_to):
            return [message for part in reversed(pages) for message in part]
        params["before"] = cursor
