"""A push token belongs to one device."""

from harness.client import new_id
from harness.command import check_data
from harness.people import World


def put(person, device: str, **body) -> dict:
    return person.put(f"/v1/devices/{device}", body)


def providers(person, device: str) -> list[str]:
    return person.get(f"/v1/devices/{device}")["pushProviders"]


def test_a_token_that_another_device_registers_leaves_the_old_device(world, anna, ben):
    old, new, token = new_id(), new_id(), new_id()
    put(anna, old, apnsToken=token, fcmToken="f" + token)
    head = world.head
    moved = put(ben, new, apnsToken=token)
    assert (moved["position"], world.head) == (head + 1, head + 2), "it moves in the same command"
    # The old device keeps its other token.
    assert providers(anna, old) == ["fcm"] and providers(ben, new) == ["apns"]
    # The same text is a different token at another provider.
    put(ben, new_id(), fcmToken=token)
    assert providers(ben, new) == ["apns"]


def test_the_same_bytes_in_other_letters_are_the_same_token(world, anna, ben):
    """An APNs token is bytes, written as hexadecimal digits. An FCM token is a text."""
    old, new, token = new_id(), new_id(), (new_id() + new_id()).replace("-", "")
    put(anna, old, apnsToken=token.lower(), fcmToken="f" + token)
    put(ben, new, apnsToken=token.upper(), fcmToken="F" + token)
    assert providers(anna, old) == ["fcm"] and providers(ben, new) == ["apns", "fcm"]


def test_between_the_devices_of_one_user_too(world, anna):
    first, second, token = new_id(), new_id(), new_id()
    put(anna, first, fcmToken=token)
    put(anna, second, fcmToken=token)
    assert (providers(anna, first), providers(anna, second)) == ([], ["fcm"])
    # Putting the device again with its own token moves nothing.
    head = world.head
    put(anna, second, fcmToken=token, name="again")
    assert world.head == head + 1


def test_two_users_may_name_their_devices_alike(world, anna, ben):
    device, token = new_id(), new_id()
    put(anna, device, apnsToken=token)
    put(ben, device, apnsToken=token)
    assert (providers(anna, device), providers(ben, device)) == ([], ["apns"])


def test_a_removed_device_holds_no_token(world, anna, ben):
    device, token = new_id(), new_id()
    put(anna, device, apnsToken=token)
    anna.delete(f"/v1/devices/{device}")
    head = world.head
    put(ben, new_id(), apnsToken=token)
    assert world.head == head + 1


def test_a_retry_moves_nothing_back(world, anna, ben):
    device, token, key = new_id(), new_id(), new_id()
    anna.put(f"/v1/devices/{device}", {"apnsToken": token}, key=key)
    other = new_id()
    put(ben, other, apnsToken=token)
    anna.put(f"/v1/devices/{device}", {"apnsToken": token}, key=key, expect=200)
    assert (providers(anna, device), providers(ben, other)) == ([], ["apns"])


def test_who_holds_what_survives_a_restart(own_server):
    world = World(own_server)
    anna, ben = world.users("Anna", "Ben")
    old, new, token = new_id(), new_id(), new_id()
    put(anna, old, apnsToken=token, fcmToken=token)
    own_server.restart()
    put(ben, new, apnsToken=token)
    assert (providers(anna, old), providers(ben, new)) == (["fcm"], ["apns"])
    own_server.restart()
    assert (providers(anna, old), providers(ben, new)) == (["fcm"], ["apns"])
    head = world.head
    put(ben, new_id(), fcmToken=token)
    assert (providers(anna, old), world.head) == ([], head + 2)
    put(anna, old, apnsToken=token)
    assert world.head == head + 4
    own_server.stop()
    check_data(own_server.data)


def test_a_device_chooses_its_notification_level(anna):
    device = new_id()
    assert put(anna, device)["notifications"] == "all"
    for level in ("mentions", "none", "all"):
        assert put(anna, device, notifications=level)["notifications"] == level
        assert anna.get(f"/v1/devices/{device}")["notifications"] == level
    anna.refused("invalid_field", "PUT", f"/v1/devices/{device}", {"notifications": "some"})


def test_a_public_profile_shows_no_device_and_no_address(world, ben):
    anna = world.account()
    device, token = new_id(), f"secret-{new_id()}"
    put(anna, device, name="Anna's phone", apnsToken=token)
    response = ben.request("GET", f"/v1/users/{anna.id}")
    assert set(response.json()) == {"id", "nickname", "picture", "isGuest"}
    for secret in (token, device, "phone", anna.email):
        assert secret not in response.text
