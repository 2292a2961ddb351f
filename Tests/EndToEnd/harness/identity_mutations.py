"""The mutations of credentials, identities, sessions, accounts, signing keys and media, as cases."""

import time
import urllib.parse

from .cases import Case, Effect, log_out, over_http
from .client import new_id
from .people import PASSWORD, Person, World

# When the ID tokens of the cases expire: later than any run of the tests, so that retries can use them.
FAR = int(time.time()) + 86_400
OTHER, THIRD = "another kettle on the hob", "a third kettle on the hob"


def _nickname(world: World, person: Person):
    """The newer change, and the function that reads it. Neither needs a session of the person."""
    service = world.acting_as(person.id)
    return lambda: service.patch("/v1/me", {"nickname": "Newer"}), lambda: service.get("/v1/me")["nickname"]


def _open_sessions(world: World, person: Person):
    service = world.acting_as(person.id)
    return lambda: [session["id"] for session in service.get("/v1/sessions")["sessions"]]


def _reset(world: World, person: Person, password: str) -> dict:
    token = world.admin.post(f"/v1/admin/users/{person.id}/password-reset", expect=200)["token"]
    return {"token": token, "newPassword": password}


def change_password(world: World) -> Case:
    anna = world.account()
    newer, shown = _nickname(world, anna)
    return Case(
        over_http(anna, "PUT", "/v1/me/password", {"currentPassword": PASSWORD, "newPassword": OTHER}, new_id()),
        newer, shown, log_out(anna), "session_ended",
    )


def reset_password(world: World) -> Case:
    anna = world.account()
    newer, shown = _nickname(world, anna)
    return Case(
        over_http(world.nobody, "POST", "/v1/password-resets", _reset(world, anna, OTHER)), newer, shown,
        lambda: world.nobody.post("/v1/password-resets", _reset(world, anna, THIRD)), "password_reset_used",
    )


def link_identity(world: World) -> Case:
    anna = world.account()
    newer, shown = _nickname(world, anna)
    return Case(
        over_http(
            anna, "POST", "/v1/me/identities",
            {"idToken": world.issuer.token(new_id(), exp=FAR), "currentPassword": PASSWORD}, new_id()),
        newer, shown, log_out(anna), "session_ended",
    )


def unlink_identity(world: World) -> Case:
    anna, subject = world.account(), new_id()
    path = f"/v1/me/identities?{urllib.parse.urlencode({'issuer': world.issuer.url, 'subject': subject})}"
    link = {"idToken": world.issuer.token(subject, exp=FAR)}
    service = world.acting_as(anna.id)
    service.post("/v1/me/identities", link)
    return Case(
        over_http(anna, "DELETE", path, key=new_id()), lambda: service.post("/v1/me/identities", link),
        lambda: service.get("/v1/me")["identities"], log_out(anna), "session_ended",
    )


def end_sessions(world: World) -> Case:
    anna = world.account()
    world.login(anna.email)
    return Case(
        over_http(anna, "DELETE", "/v1/sessions", key=new_id()), lambda: world.login(anna.email),
        _open_sessions(world, anna), log_out(anna), "session_ended",
    )


def end_user_sessions(world: World) -> Case:
    anna = world.account()
    return Case(
        over_http(world.admin, "DELETE", f"/v1/admin/users/{anna.id}/sessions", key=new_id()),
        lambda: world.login(anna.email), _open_sessions(world, anna),
    )


def _disabled_at(world: World, person: Person):
    return lambda: world.acting_as(person.id).get("/v1/me")["disabledAt"]


def disable_user(world: World) -> Case:
    anna = world.user()
    path = f"/v1/admin/users/{anna.id}"
    return Case(
        over_http(world.admin, "POST", f"{path}/disable", key=new_id()), lambda: world.admin.post(f"{path}/enable"),
        _disabled_at(world, anna),
    )


def enable_user(world: World) -> Case:
    anna = world.user()
    path = f"/v1/admin/users/{anna.id}"
    world.admin.post(f"{path}/disable")
    return Case(
        over_http(world.admin, "POST", f"{path}/enable", key=new_id()), lambda: world.admin.post(f"{path}/disable"),
        _disabled_at(world, anna),
    )


def _blocked_by(person):
    return lambda: [row["user"]["id"] for row in person.get("/v1/me/blocked-users")["blockedUsers"]]


def block_user(world: World) -> Case:
    anna, ben = world.users("Anna", "Ben")
    path = f"/v1/me/blocked-users/{ben.id}"
    return Case(
        over_http(anna, "PUT", path, key=new_id()), lambda: anna.delete(path), _blocked_by(anna), log_out(anna),
        "session_ended",
    )


def unblock_user(world: World) -> Case:
    anna, ben = world.users("Anna", "Ben")
    path = f"/v1/me/blocked-users/{ben.id}"
    anna.put(path)
    return Case(
        over_http(anna, "DELETE", path, key=new_id()), lambda: anna.put(path), _blocked_by(anna), log_out(anna),
        "session_ended",
    )


def rotate_signing_key(world: World) -> Case:
    rotate = "/v1/admin/signing-keys/rotate"
    return Case(
        over_http(world.admin, "POST", rotate, key=new_id()), lambda: world.admin.post(rotate),
        lambda: [key["kid"] for key in world.nobody.get("/.well-known/jwks.json")["keys"]],
    )


def upload_media(world: World) -> Case:
    anna = world.user()
    content = new_id().encode()

    def do():
        response = anna.request("POST", "/v1/media", data=content, headers={"Content-Type": "application/octet-stream"})
        return Effect.of_response(response), response.json().get("position"), response.json().get("code")

    def picture() -> dict:
        other = anna.request("POST", "/v1/media", data=new_id().encode()).json()
        return anna.patch("/v1/me", {"picture": other["id"]})

    return Case(do, picture, lambda: anna.get("/v1/me")["picture"], log_out(anna), "session_ended")


def _hold(world: World, target: str) -> tuple[str, str]:
    """The paths of the legal hold on a new user or room, and of the list."""
    user = world.user()
    id = user.id if target == "users" else user.room().id
    return f"/v1/admin/legal-holds/{target}/{id}", "/v1/admin/legal-holds"


def _placing(world: World, target: str) -> Case:
    path, holds = _hold(world, target)
    return Case(
        over_http(world.admin, "PUT", path, {"reason": "case 7"}, new_id()),
        lambda: world.admin.put(path, {"reason": "cases 7 and 8"}), lambda: world.admin.get(holds, limit=1),
    )


def _lifting(world: World, target: str) -> Case:
    path, holds = _hold(world, target)
    world.admin.put(path, {"reason": "case 7"})
    return Case(
        over_http(world.admin, "DELETE", path, key=new_id()), lambda: world.admin.put(path, {"reason": "case 8"}),
        lambda: world.admin.get(holds, limit=1),
    )


def hold_user(world: World) -> Case:
    return _placing(world, "users")


def hold_room(world: World) -> Case:
    return _placing(world, "rooms")


def release_user(world: World) -> Case:
    return _lifting(world, "users")


def release_room(world: World) -> Case:
    return _lifting(world, "rooms")


def _held(world: World, user: str) -> str:
    """While the user is held, the server records nothing more about the deletion. Returns the path of the erasure."""
    world.admin.put(f"/v1/admin/legal-holds/users/{user}", {"reason": "case 7"})
    return f"/v1/admin/erasures/{user}"


def delete_user(world: World) -> Case:
    anna = world.admin.post("/v1/accounts", {"id": new_id(), "nickname": "Anna", "externalId": new_id()})
    erasure = _held(world, anna["id"])
    again = {"id": new_id(), "nickname": "Anna", "externalId": anna["externalId"]}
    return Case(
        over_http(world.admin, "DELETE", f"/v1/admin/users/{anna['id']}", key=new_id()),
        lambda: world.admin.post("/v1/accounts", again), lambda: world.admin.get(erasure),
    )


def delete_me(world: World) -> Case:
    anna = world.account()
    erasure = _held(world, anna.id)
    request = over_http(anna, "DELETE", "/v1/me", {"currentPassword": PASSWORD}, new_id())

    def do():
        effect, position, code = request()
        # The end of the session is recorded before the deletion.
        return effect, position and position - 1, code

    again = {"id": new_id(), "email": anna.email, "password": PASSWORD, "nickname": "Anna"}
    return Case(do, lambda: world.nobody.post("/v1/accounts", again), lambda: world.admin.get(erasure))


OVER_IDENTITY = [
    change_password, reset_password, link_identity, unlink_identity, end_sessions, end_user_sessions, disable_user, enable_user,
    rotate_signing_key, upload_media, block_user, unblock_user,
    delete_me, delete_user, hold_user, hold_room, release_user, release_room,
]
