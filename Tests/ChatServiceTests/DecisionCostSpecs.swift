import ChatDomain
import ChatPrimitives
import ChatProjections
import EventStore
import ProcessorTime
import Testing

@testable import ChatService

/// The writer decides all messages one after the other, so what a decision costs limits how many messages can be sent.
@Suite("The processor time of a decision")
struct DecisionCostSpecs {
  private static let room: RoomID = fixed(9)
  private static let members = 20
  private static let rounds = 15
  private static let messages = 2_000

  /// A room with members, and the position after its last event.
  private func openedRoom() -> (DecisionState, LogPosition) {
    var state = DecisionState(knownIDs: KnownIDs(KnownIDFilter(), newest: .origin), floor: .origin)
    let users = (1...Self.members).map { fixed(UInt64($0)) as UserID }
    let registration = Registration(nickname: "user", email: nil, externalID: nil, credential: nil, commitmentKey: [])
    var events = users.map { ChatEvent.user($0, .account(.registered(registration))) }
    events.append(.room(Self.room, .lifecycle(.created(RoomCreation(kind: .group, name: "tea", creator: users[0])))))
    events += users.map { .room(Self.room, .members(.joined($0, role: .member, invite: nil))) }
    for (index, event) in events.enumerated() {
      let position = LogPosition(UInt64(index + 1))
      state.take(
        RecordedEvent(
          stamp: Stamp(position: position, time: Timestamp(milliseconds: 1)), version: StreamVersion(position.value),
          actor: users[0], service: nil, device: nil, command: nil, originalTime: nil, event: event))
    }
    return (state, LogPosition(UInt64(events.count + 1)))
  }

  private func commands(from first: UInt64) -> [ChatCommand] {
    (0..<UInt64(Self.messages)).map { number in
      ChatCommand(
        context: CommandContext(
          actor: fixed(number % UInt64(Self.members) + 1), time: Timestamp(milliseconds: 1)),
        operation: .room(Self.room, .messages(.send(fixed(first + number), .plain("The kettle is on.")))),
        knownAsOf: .latest)
    }
  }

  // When this limit was set, the ratio was 4.0 to 4.3.
  @Test("deciding a plain message costs less than eight times the fingerprint of a text of 1 KiB")
  func message() {
    let text = String(repeating: "tea and ", count: 128)
    var (state, next) = openedRoom()
    let costs = (0..<Self.rounds).map { round in
      let commands = commands(from: UInt64(1_000 + round * Self.messages))
      let hashed = ProcessorTime.spent {
        for _ in 0..<Self.messages { withExtendedLifetime(Fingerprint(.text(text))) {} }
      }
      var decided = 0
      let spent = ProcessorTime.spent {
        for command in commands {
          let decision = state.decide(command, next: next, now: Timestamp(milliseconds: 2))
          next = next.advanced(by: decision.events.count)
          decided += decision.events.count
        }
      }
      #expect(decided == Self.messages)
      return spent / hashed
    }
    // The minimum leaves out rounds that other work slowed down.
    #expect(costs.min() ?? .infinity < 8, "\(costs)")
  }
}
