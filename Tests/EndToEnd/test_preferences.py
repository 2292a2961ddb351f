"""What users prefer to be notified of, and how a device and a room differ from it."""

import pytest

from harness.client import new_id

PREFERENCES = "/v1/me/preferences"
NIGHT = {"from": "22:00", "to": "07:00", "timeZone": "Europe/Berlin"}
DEFAULTS = {"notifications": "all", "mutedKinds": [], "quietHours": None, "showsPreviews": True,
    "directRooms": "everyone", "groupAdditions": "everyone"}


def shown(answer: dict) -> dict:
    return {name: answer[name] for name in DEFAULTS}


def test_a_user_chooses_notifications(world, anna, ben):
    assert shown(anna.get(PREFERENCES)) == DEFAULTS
    start = anna.get("/v1/sync")["cursor"]
    wanted = {
        "notifications": "mentions", "mutedKinds": ["added", "reaction"], "quietHours": NIGHT, "showsPreviews": False,
        "directRooms": "known", "groupAdditions": "nobody",
    }
    receipt = anna.patch(PREFERENCES, wanted)
    expected = wanted | {"mutedKinds": ["reaction", "added"]}
    assert shown(receipt) == expected and receipt["position"] == world.head
    assert shown(anna.get(PREFERENCES)) == expected
    items = anna.get(f"/v1/sync?since={start}")["items"]
    assert [shown(item["preferences"]) for item in items if item["type"] == "preferences"] == [expected]
    assert shown(ben.get(PREFERENCES)) == DEFAULTS


def test_what_is_absent_stays_and_null_removes_the_quiet_hours(anna):
    anna.patch(PREFERENCES, {"quietHours": NIGHT, "mutedKinds": ["message"]})
    assert shown(anna.patch(PREFERENCES, {"notifications": "none"})) == {
        "notifications": "none", "mutedKinds": ["message"], "quietHours": NIGHT, "showsPreviews": True,
        "directRooms": "everyone", "groupAdditions": "everyone"}
    assert anna.patch(PREFERENCES, {"quietHours": None})["quietHours"] is None
    assert anna.patch(PREFERENCES, {"mutedKinds": []})["mutedKinds"] == []
    anna.refused("invalid_field", "PATCH", PREFERENCES, {"notifications": None})  # the same as an empty change


@pytest.mark.parametrize("changed, problem, field", [
    ({"from": "24:00"}, "invalid_field", "quietHours.from"),
    ({"to": "7:00"}, "invalid_field", "quietHours.to"),
    ({"timeZone": "Europe/Atlantis"}, "invalid_field", "quietHours.timeZone"),
    ({"timeZone": "../../etc/passwd"}, "invalid_field", "quietHours.timeZone"),
    ({"timeZone": ""}, "invalid_field", "quietHours.timeZone"),
    ({"to": "22:00"}, "quiet_hours_malformed", ""),
])
def test_quiet_hours_have_their_form(anna, changed, problem, field):
    answer = anna.refused(problem, "PATCH", PREFERENCES, {"quietHours": NIGHT | changed})
    assert answer["detail"].startswith(field)
    assert anna.get(PREFERENCES)["quietHours"] is None


@pytest.mark.parametrize("zone", ["UTC", "Asia/Seoul", "America/Argentina/Buenos_Aires", "Pacific/Chatham"])
def test_time_zones_that_exist(anna, zone):
    assert anna.patch(PREFERENCES, {"quietHours": NIGHT | {"timeZone": zone}})["quietHours"]["timeZone"] == zone


def test_other_values_are_rejected(anna):
    anna.refused("invalid_field", "PATCH", PREFERENCES, {"notifications": "some"})
    anna.refused("invalid_field", "PATCH", PREFERENCES, {"mutedKinds": ["sent"]})
    anna.refused("invalid_field", "PATCH", PREFERENCES, {"directRooms": "friends"})
    anna.refused("invalid_field", "PATCH", PREFERENCES, {"groupAdditions": False})
    anna.refused("invalid_field", "PATCH", PREFERENCES, {"mutedKinds": "message"})
    anna.refused("invalid_field", "PATCH", PREFERENCES, {"quietHours": {"from": "22:00", "to": "07:00"}})
    anna.refused("unknown_field", "PATCH", PREFERENCES, {"quietHours": NIGHT | {"days": [1]}})


def test_a_late_retry_changes_nothing(world, anna):
    key = new_id()
    anna.patch(PREFERENCES, {"quietHours": NIGHT}, key=key)
    anna.patch(PREFERENCES, {"quietHours": None})
    head = world.head
    anna.patch(PREFERENCES, {"quietHours": NIGHT}, key=key, expect=200)
    anna.refused("idempotency_key_reused", "PATCH", PREFERENCES, {"quietHours": None}, key=key)
    assert (world.head, anna.get(PREFERENCES)["quietHours"]) == (head, None)
