"""A conversation through the client that openapi-python-client makes from docs/openapi.yaml. test_generated_clients.py
checks its types, runs it with the address of a server and the administrator's token, and checks what it prints."""

import datetime
import json
import sys
import typing
import uuid

from hansard_client import AuthenticatedClient, Client
from hansard_client.api.accounts_and_sessions import create_account, create_session, get_me, update_me
from hansard_client.api.messages import list_messages, send_message
from hansard_client.api.rooms_and_members import create_room, get_room, mute_room
from hansard_client.models import (
    Account,
    CreateAccountRequest,
    CreateRoomRequest,
    CreateSessionRequest,
    MessagePage,
    MuteRoomRequest,
    Problem,
    ProfileChange,
    Room,
    RoomRole,
    SendMessageRequest,
    Tokens,
)
from hansard_client.types import UNSET, Unset

MESSAGES, PAGE_SIZE = 35, 30
PASSWORD = "red kettle on the hob"


def register_and_log_in(url: str) -> tuple[Account, Tokens]:
    # Both operations also take a service's token, so the generator's types demand a client that has one.
    client = typing.cast(AuthenticatedClient, Client(url, raise_on_unexpected_status=True))
    email = f"{uuid.uuid4()}@example.org"
    account = create_account.sync(
        client=client, body=CreateAccountRequest(id=uuid.uuid4(), nickname="Anna", email=email, password=PASSWORD))
    assert isinstance(account, Account), account
    tokens = create_session.sync(client=client, body=CreateSessionRequest(email=email, password=PASSWORD))
    assert isinstance(tokens, Tokens), tokens
    return account, tokens


def texts_of(client: AuthenticatedClient, room: Room) -> list[str]:
    """All texts of the room, page by page from the newest, in the order in which they were sent."""
    texts: list[str] = []
    cursor: str | Unset = UNSET
    while True:
        page = list_messages.sync(room.id, client=client, before=cursor, limit=PAGE_SIZE)
        assert isinstance(page, MessagePage), page
        texts = [message.text or "" for message in page.messages] + texts
        if page.next_cursor is None:
            return texts
        cursor = page.next_cursor


def conversation(url: str, service_token: str) -> dict[str, object]:
    account, tokens = register_and_log_in(url)
    anna = AuthenticatedClient(url, token=tokens.access_token, raise_on_unexpected_status=True)
    room = create_room.sync(client=anna, body=CreateRoomRequest(id=uuid.uuid4(), name="Tea"))
    assert isinstance(room, Room), room
    for number in range(1, MESSAGES + 1):
        send_message.sync(room.id, uuid.uuid4(), client=anna, body=SendMessageRequest(text=f"Cup {number}"))
    tomorrow = datetime.datetime.now(datetime.UTC).replace(microsecond=0) + datetime.timedelta(days=1)
    muted = mute_room.sync(room.id, client=anna, body=MuteRoomRequest(until=tomorrow))
    renamed = update_me.sync(client=anna, body=ProfileChange(nickname="Anna K."))
    unknown = get_room.sync(uuid.uuid4(), client=anna)
    service = AuthenticatedClient(url, token=service_token, raise_on_unexpected_status=True)
    seen_by_service = get_me.sync(client=service, hansard_act_as=str(account.id))
    assert isinstance(muted, Room) and isinstance(renamed, Account), (muted, renamed)
    assert isinstance(unknown, Problem) and isinstance(seen_by_service, Account), (unknown, seen_by_service)
    return {
        "isRegistered": tokens.user.id == account.id == seen_by_service.id, "role": room.role,
        "texts": texts_of(anna, room), "isMuted": muted.muted_until == tomorrow, "nickname": renamed.nickname,
        "code": unknown.code,
    }


print(json.dumps(conversation(*sys.argv[1:])))
