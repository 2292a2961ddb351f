import ChatDomain
import ChatPrimitives
import EventLog
import EventStore
import Testing

@Suite("Charged bytes")
struct ChargedBytesTests {
  @Test("every kind of event is charged for no less than its record has before compression")
  func golden() throws {
    for event in goldenEvents {
      let (envelope, payload) = try EventCodec.encode(event)
      #expect(UInt64(envelope.encoded().count + payload.count) <= event.event.chargedBytes, "\(event.event)")
    }
  }

  @Test("so are lists of the maximum length", arguments: [0, 1, 10])
  func lists(count: Int) throws {
    func id<Entity>(_ number: Int) -> ID<Entity> { ID(UUIDBytes(high: .max, low: UInt64.max - UInt64(number))) }
    let details = MessageDetails(
      replyTo: id(1), mentions: Mentions(users: (0..<5 * count).map { id($0) }, everyone: true),
      attachments: (0..<count).map {
        Attachment(
          media: id($0),
          content: Media(
            hash: Array(repeating: 255, count: 32), contentType: "image/png", size: .max, width: .max, height: .max),
          name: "a")
      }, custom: CustomPart(type: "x", body: String(repeating: "7", count: 1_000)))
    let time = Timestamp(milliseconds: .max)
    let message = ScheduledMessage(
      author: id(1), content: MessageContent(text: "ü", details: details), thread: id(2), sendAt: time)
    let location = ThreadLocation(root: ThreadRoot(message: id(5), ordinal: .max), rootAuthor: id(6), ordinal: .max)
    let creation = RoomCreation(
      kind: .direct, name: "", creator: id(1), workspace: id(2), topic: "t", participants: (0..<count).map { id($0) })
    let events: [RoomEvent] = [
      .scheduling(.scheduled(id(3), message)),
      .messages(.sent(id(3), author: id(1), thread: location, message.content)),
      .lifecycle(.created(creation)),
      .reports(
        .filed(
          id(3), reporter: id(1),
          Report(
            subject: .message(
              ReportedMessage(id: id(5), author: id(6), sentAt: time, content: message.content)),
            reason: .other, comment: String(repeating: "c", count: 200 * count)))),
      .reports(
        .resolved(id(3), ReportResolution(outcome: .other, note: String(repeating: "n", count: 200 * count)))),
      .reports(.reopened(id(3), reporter: id(1))),
    ]
    let custom = String(repeating: "7", count: 400 * count)
    let recordedEvents =
      events.map { ChatEvent.room(id(9), $0) } + [
        .room(id(9), .lifecycle(.edited(RoomEdit(topic: "t", custom: custom)))),
        .user(id(1), .account(.profileChanged(ProfileEdit(nickname: "n", custom: custom)))),
      ]
    for event in recordedEvents {
      let recorded = RecordedEvent(
        stamp: Stamp(position: .first, time: time), version: StreamVersion(.max), actor: id(1), service: id(2),
        device: id(3), command: id(4), originalTime: time, event: event)
      let (envelope, payload) = try EventCodec.encode(recorded)
      #expect(UInt64(envelope.encoded().count + payload.count) <= event.chargedBytes, "\(event)")
    }
  }
}
