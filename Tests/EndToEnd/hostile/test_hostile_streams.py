"""Clients that open streams and do not read them."""

from harness.client import new_id
from harness.live_streams import LiveClient, open_all, open_events
from harness.long_polls import STREAMS_OF_USER

MESSAGE_BYTES = 16 * 1024
# Much more than fits into all buffers between the server and a client that reads nothing.
UNREAD_MESSAGES = 300
# The largest number that `resumeAfterMilliseconds` can have.
RESUME_MILLISECONDS = 10_000


def test_a_client_that_reads_nothing_loses_its_stream_and_resumes(anna, ben, room):
    slow = LiveClient(ben, open=lambda *all, **query: open_events(*all, receive_bytes=4096, **query)).begin()
    sent = [f"{number} {'x' * MESSAGE_BYTES}"[:MESSAGE_BYTES] for number in range(UNREAD_MESSAGES)]
    anna.ingest([{"op": "message.send", "roomId": room.id, "id": new_id(), "text": text} for text in sent])
    # With the slow one these are one too many, so the last is opened when that has ended.
    others = open_all(ben, STREAMS_OF_USER)
    frame = slow.stream.last_frame()
    assert frame.data["code"] == "reader_too_slow"
    assert 0 <= frame.data["resumeAfterMilliseconds"] <= RESUME_MILLISECONDS
    for stream in others:
        stream.close()
    slow.drop()
    slow.open = open_events
    slow.connect().follow()
    texts = [item["message"]["text"] for item in slow.items if item["type"] == "message"]
    assert texts == sent
