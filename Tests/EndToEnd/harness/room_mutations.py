"""The mutations of rooms, of their moderation, and of workspaces, as cases."""

from .cases import Case, hand_over, leave, log_out, over_http, two
from .client import new_id
from .people import Person, Room, Workspace, World


def _office(world: World) -> tuple[Person, Person, Workspace]:
    """Anna's workspace, with Ben as an administrator."""
    anna, ben = world.users("Anna", "Ben")
    office = anna.workspace("Office")
    office.take_in(world, ben, "administrator")
    return anna, ben, office


def gone_from(office: Workspace, person: Person):
    return lambda: person.post(f"{office.path}/leave")


def roles_in(person: Person, place) -> dict:
    return {member["user"]["id"]: member["role"] for member in person.get(f"{place.path}/members")["members"]}


# Rooms


def delete_room(world: World) -> Case:
    anna, ben, room = two(world)
    return Case(
        over_http(anna, "DELETE", room.path, key=new_id()), lambda: ben.room("Another"),
        lambda: [room["name"] for room in ben.get("/v1/rooms")["rooms"]], log_out(anna), "session_ended",
    )


def unarchive_room(world: World) -> Case:
    anna, ben, room = two(world)
    anna.post(f"{room.path}/archive")
    return Case(
        over_http(anna, "POST", f"{room.path}/unarchive", key=new_id()), lambda: anna.post(f"{room.path}/archive"),
        lambda: ben.see(room)["archivedAt"], hand_over(anna, room, ben), "room_not_found",
    )


def transfer_room(world: World) -> Case:
    anna, ben, room = two(world)
    return Case(
        over_http(anna, "POST", f"{room.path}/transfer", {"userId": ben.id}, new_id()),
        lambda: ben.post(f"{room.path}/transfer", {"userId": anna.id}),
        lambda: roles_in(ben, room), hand_over(anna, room, ben), "room_not_found",
    )


def join_room(world: World) -> Case:
    anna, ben, office = _office(world)
    room = anna.channel(office)
    return Case(
        over_http(ben, "POST", f"{room.path}/join", key=new_id()), lambda: ben.post(f"{room.path}/leave"),
        lambda: anna.see(room)["memberCount"], gone_from(office, ben), "room_not_found",
    )


def change_member_role(world: World) -> Case:
    anna, ben, room = two(world)
    path = f"{room.path}/members/{ben.id}/role"
    return Case(
        over_http(anna, "PUT", path, {"role": "administrator"}, new_id()),
        lambda: anna.put(path, {"role": "member"}),
        lambda: roles_in(ben, room), hand_over(anna, room, ben), "room_not_found",
    )


def silence_member(world: World) -> Case:
    anna, ben, room = two(world)
    path = f"{room.path}/members/{ben.id}/silence"
    return Case(
        over_http(anna, "PUT", path, {"until": "2090-01-01T00:00:00Z"}, new_id()), lambda: anna.put(path, {}),
        lambda: ben.see(room)["silencedUntil"], hand_over(anna, room, ben), "room_not_found",
    )


def ban_user(world: World) -> Case:
    anna, ben, room = two(world)
    carla = world.user("Carla")
    path = f"{room.path}/bans/{carla.id}"
    anna.put(f"{room.path}/members/{carla.id}")
    return Case(
        over_http(anna, "PUT", path, key=new_id()), lambda: anna.delete(path),
        lambda: world.acting_as(anna.id).get(f"{room.path}/bans"), hand_over(anna, room, ben), "room_not_found",
    )


def unban_user(world: World) -> Case:
    anna, ben, room = two(world)
    path = f"{room.path}/bans/{world.user('Carla').id}"
    anna.put(path)
    return Case(
        over_http(anna, "DELETE", path, key=new_id()), lambda: anna.put(path),
        lambda: world.acting_as(anna.id).get(f"{room.path}/bans"), hand_over(anna, room, ben), "room_not_found",
    )


# Reports


def file_report(world: World) -> Case:
    anna, ben, room = two(world)
    body = {"id": new_id(), "messageId": anna.send(room, "buy tea")["id"], "reason": "spam", "comment": "again"}
    path = f"{room.path}/reports"
    return Case(
        over_http(ben, "POST", path, body), lambda: anna.delete(room.message(body["messageId"])),
        lambda: [report["status"] for report in world.admin.get(path)["reports"]],
        leave(ben, room), "room_not_found",
    )


def _reported(world: World) -> tuple[Person, Person, Room, str]:
    """Ben has reported Carla in Anna's room."""
    anna, ben, room = two(world)
    carla = world.user("Carla")
    anna.put(f"{room.path}/members/{carla.id}")
    report = ben.post(f"{room.path}/reports", {"userId": carla.id, "reason": "spam"})["id"]
    return anna, ben, room, f"{room.path}/reports/{report}"


def resolve_report(world: World) -> Case:
    anna, ben, room, path = _reported(world)
    return Case(
        over_http(anna, "POST", f"{path}/resolve", {"outcome": "no_action"}, new_id(), revised=True),
        lambda: anna.post(f"{path}/reopen"), lambda: world.admin.get(path), hand_over(anna, room, ben), "room_not_found",
    )


def reopen_report(world: World) -> Case:
    anna, ben, room, path = _reported(world)
    anna.post(f"{path}/resolve", {"outcome": "no_action"})
    return Case(
        over_http(anna, "POST", f"{path}/reopen", None, new_id(), revised=True),
        lambda: anna.post(f"{path}/resolve", {"outcome": "user_warned"}), lambda: world.admin.get(path),
        hand_over(anna, room, ben), "room_not_found",
    )


# Workspaces


def create_workspace(world: World) -> Case:
    anna, id = world.user(), new_id()
    return Case(
        over_http(anna, "POST", "/v1/workspaces", {"id": id, "name": "First"}),
        lambda: anna.patch(f"/v1/workspaces/{id}", {"name": "Newer"}),
        lambda: anna.get(f"/v1/workspaces/{id}")["name"], log_out(anna), "session_ended",
    )


def update_workspace(world: World) -> Case:
    anna, ben, office = _office(world)
    return Case(
        over_http(ben, "PATCH", office.path, {"name": "First", "topic": "tea"}, new_id()),
        lambda: anna.patch(office.path, {"name": "Newer"}),
        lambda: anna.get(office.path), gone_from(office, ben), "workspace_not_found",
    )


def delete_workspace(world: World) -> Case:
    anna, ben, office = _office(world)
    anna.channel(office)
    return Case(
        over_http(anna, "DELETE", office.path, key=new_id()), lambda: ben.workspace("Another"),
        lambda: [workspace["name"] for workspace in ben.get("/v1/workspaces")["workspaces"]],
        log_out(anna), "session_ended",
    )


def transfer_workspace(world: World) -> Case:
    anna, ben, office = _office(world)
    return Case(
        over_http(anna, "POST", f"{office.path}/transfer", {"userId": ben.id}, new_id()),
        lambda: ben.post(f"{office.path}/transfer", {"userId": anna.id}),
        lambda: roles_in(ben, office),
        lambda: (anna.post(f"{office.path}/transfer", {"userId": ben.id}), anna.post(f"{office.path}/leave")),
        "workspace_not_found",
    )


def remove_workspace_member(world: World) -> Case:
    anna, ben, office = _office(world)
    carla = world.user("Carla")
    office.take_in(world, carla)
    return Case(
        over_http(ben, "DELETE", f"{office.path}/members/{carla.id}", key=new_id()),
        lambda: office.take_in(world, carla),
        lambda: roles_in(anna, office), gone_from(office, ben), "workspace_not_found",
    )


def change_workspace_role(world: World) -> Case:
    anna, ben, office = _office(world)
    carla = world.user("Carla")
    office.take_in(world, carla)
    path = f"{office.path}/members/{carla.id}/role"
    return Case(
        over_http(ben, "PUT", path, {"role": "administrator"}, new_id()),
        lambda: anna.put(path, {"role": "guest"}),
        lambda: roles_in(anna, office), gone_from(office, ben), "workspace_not_found",
    )


def join_workspace(world: World) -> Case:
    anna, ben, office = _office(world)
    carla = world.user("Carla")
    anna.put(f"{office.path}/invitations/{carla.id}", {"role": "member"})
    return Case(
        over_http(carla, "POST", f"{office.path}/join", key=new_id()), gone_from(office, carla),
        lambda: roles_in(anna, office), log_out(carla), "session_ended",
    )


def leave_workspace(world: World) -> Case:
    anna, ben, office = _office(world)
    return Case(
        over_http(ben, "POST", f"{office.path}/leave", key=new_id()), lambda: office.take_in(world, ben),
        lambda: roles_in(anna, office), log_out(ben), "session_ended",
    )


def create_workspace_invite(world: World) -> Case:
    anna, ben, office = _office(world)
    id = new_id()
    return Case(
        over_http(ben, "POST", f"{office.path}/invites", {"id": id, "maxUses": 3}),
        lambda: anna.delete(f"{office.path}/invites/{id}"),
        lambda: [(invite["id"], invite["revokedAt"]) for invite in anna.get(f"{office.path}/invites")["invites"]],
        gone_from(office, ben), "workspace_not_found",
    )


def revoke_workspace_invite(world: World) -> Case:
    anna, ben, office = _office(world)
    id = anna.post(f"{office.path}/invites", {})["id"]
    return Case(
        over_http(ben, "DELETE", f"{office.path}/invites/{id}", key=new_id()),
        lambda: anna.post(f"{office.path}/invites", {}),
        lambda: [(invite["id"], invite["revokedAt"]) for invite in anna.get(f"{office.path}/invites")["invites"]],
        gone_from(office, ben), "workspace_not_found",
    )


def invite_user(world: World) -> Case:
    anna, ben, office = _office(world)
    carla = world.user("Carla")
    return Case(
        over_http(ben, "PUT", f"{office.path}/invitations/{carla.id}", {"role": "guest"}, new_id()),
        lambda: carla.delete(f"/v1/me/invitations/{office.id}"),
        lambda: anna.get(f"{office.path}/invitations"), gone_from(office, ben), "workspace_not_found",
    )


def withdraw_invitation(world: World) -> Case:
    anna, ben, office = _office(world)
    path = f"{office.path}/invitations/{world.user('Carla').id}"
    anna.put(path, {"role": "guest"})
    return Case(
        over_http(ben, "DELETE", path, key=new_id()), lambda: anna.put(path, {"role": "member"}),
        lambda: anna.get(f"{office.path}/invitations"), gone_from(office, ben), "workspace_not_found",
    )


def decline_invitation(world: World) -> Case:
    anna, ben, office = _office(world)
    carla = world.user("Carla")
    path = f"{office.path}/invitations/{carla.id}"
    anna.put(path, {"role": "guest"})
    return Case(
        over_http(carla, "DELETE", f"/v1/me/invitations/{office.id}", key=new_id()),
        lambda: anna.put(path, {"role": "member"}),
        lambda: anna.get(f"{office.path}/invitations"), log_out(carla), "session_ended",
    )


OVER_ROOMS = [
    delete_room, unarchive_room, transfer_room, join_room, change_member_role, silence_member, ban_user, unban_user,
    file_report, resolve_report, reopen_report,
    create_workspace, update_workspace, delete_workspace, transfer_workspace, remove_workspace_member,
    change_workspace_role, join_workspace, leave_workspace, create_workspace_invite, revoke_workspace_invite,
    invite_user, withdraw_invitation, decline_invitation,
]
