"""The settings file of `hansard serve`. The environment overrides it, and options override both."""

import json

import pytest

from harness.client import Api
from harness.command import hansard
from harness.server import Server


def written(folder, text) -> str:
    path = folder / "hansard.json"
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    return str(path)


def test_the_environment_and_the_options_override_the_file(tmp_path, monkeypatch):
    file = written(tmp_path, {"accessTokenLifetime": 111, "push": {"file": str(tmp_path / "notifications")}})
    server = Server(tmp_path / "data", "--config", file)
    email, password = "anna@example.org", "correct horse battery"

    def lifetime() -> int:
        server.start()
        try:
            # No notification is due, but the server created the push file: settings that nothing overrides always
            # apply.
            assert (tmp_path / "notifications").exists()
            api = Api(server)
            api.request("POST", "/v1/accounts", {"id": "018f2f4e-7777-7abc-8def-0123456789ab", "nickname": "Anna",
                                                 "email": email, "password": password})
            return api.post("/v1/sessions", {"email": email, "password": password})["expiresIn"]
        finally:
            server.end()

    # Some seconds of the lifetime may have passed.
    assert 0 < lifetime() <= 111
    monkeypatch.setenv("HANSARD_ACCESS_TOKEN_LIFETIME", "222")
    assert 111 < lifetime() <= 222
    server.flags += ("--access-token-lifetime", "333")
    assert 222 < lifetime() <= 333


@pytest.mark.parametrize(
    ("text", "complaints"),
    [
        ("{", ["hansard.json cannot be used"]),
        ("[]", ["hansard.json cannot be used", "not a JSON object"]),
        ({"lisen": "x", "push": {"webhok": "y"}}, ["unknown setting lisen", "unknown setting push.webhok", "hansard settings"]),
        ({"accessTokenLifetime": "long"}, ["accessTokenLifetime in", "not a whole number"]),
        ({"accessTokenLifetime": 0, "listen": "x"}, ["1 to 31536000", "HOST:PORT"]),
    ],
)
def test_a_wrong_file_is_refused_before_anything_is_made(tmp_path, text, complaints):
    outcome = hansard("serve", "--data", tmp_path / "data", "--config", written(tmp_path, text), expect=None)
    assert outcome.status == 2
    for complaint in complaints:
        assert complaint in outcome.errors
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("name", "value", "complaints"),
    [
        ("HANSARD_LISTN", "127.0.0.1:0", ["unknown setting HANSARD_LISTN", "write HANSARD_LISTEN if"]),
        ("HANSARD_LOG_LEVEL", "debug", ["unknown setting HANSARD_LOG_LEVEL", "write LOG_LEVEL if"]),
        ("HANSARD_COLOUR", "red", ["unknown setting HANSARD_COLOUR. it is in the environment. unset it"]),
        ("LOG_LEVEL", "loud", ["LOG_LEVEL cannot be used", '"loud"', "debug, info, notice"]),
    ],
)
def test_a_misspelt_variable_is_refused_before_anything_is_made(tmp_path, monkeypatch, name, value, complaints):
    monkeypatch.setenv(name, value)
    outcome = hansard("serve", "--data", tmp_path / "data", expect=None)
    assert outcome.status == 2
    for complaint in complaints:
        assert complaint in outcome.errors
    assert not (tmp_path / "data").exists()


def test_a_missing_file_is_refused(tmp_path):
    outcome = hansard("serve", "--data", tmp_path / "data", "--config", tmp_path / "none.json", expect=None)
    assert outcome.status == 2 and "does not exist or cannot be read" in outcome.errors and "none.json" in outcome.errors
