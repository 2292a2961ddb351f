import ChatDomain
import ChatPrimitives
import EventLogSimulation

/// Made-up messages of one length, the same in every run: words in no order, so that they compress as chat does.
struct SampleMessages: Sendable {
  /// Length of the record that a message makes before compression, in bytes: 8 of its header, 72 of the envelope
  /// (40 that each has, author and message with 16 each), 3 of the payload's tag and length, and the text.
  static let recordBytes = 300
  static let textBytes = recordBytes - 83
  /// Far more text than LZ4 looks back over, so that no message finds itself again.
  private static let count = 8_192
  private static let words = [
    "the", "kettle", "is", "on", "and", "cups", "are", "warm", "so", "come", "up", "when", "you", "can", "I", "have",
    "biscuits", "left", "from", "yesterday", "who", "wants", "to", "try", "package", "update", "again", "kernel",
    "with",
    "apt-get", "install", "works", "here", "but", "not", "there", "maybe", "restart", "network", "first", "thanks",
    "ok",
    "what", "version", "do", "run", "it", "says", "permission", "denied", "sudo", "should", "fix", "that", "lol", "yes",
    "no", "really", "http://example.org/wiki", "channel", "question", "about", "sound", "card", "driver", "screen",
  ]

  private let texts: [String]

  init() {
    var random = SeededRandom(seed: 300)
    texts = (0..<Self.count).map { _ in Self.text(&random) }
  }

  /// Any number has a text.
  subscript(number: UInt64) -> String {
    texts[Int(number % UInt64(texts.count))]
  }

  private static func text(_ random: inout SeededRandom) -> String {
    var text = ""
    while text.utf8.count < textBytes {
      text += random.isOne(in: 6) ? String(random.below(100_000)) : words[random.below(words.count)]
      text += " "
    }
    return String(text.prefix(textBytes))
  }
}

/// A member of the made-up conversation: one user who writes to one room.
struct SampleAuthor: Sendable {
  let user: UserID
  let room: RoomID

  init(number: Int) {
    var random = SeededRandom(seed: UInt64(number) &+ 1)
    user = UserID(UUIDBytes(high: random.next(), low: random.next()))
    room = RoomID(UUIDBytes(high: random.next(), low: random.next()))
  }

  /// The first event of the author's own stream, with a key from which the salts of the messages come.
  func registered(at stamp: Stamp) -> RecordedEvent {
    let key = user.uuid.bytes + room.uuid.bytes
    let registration = Registration(
      nickname: "writer", email: nil, externalID: nil, credential: nil, commitmentKey: key)
    return RecordedEvent(
      stamp: stamp, version: StreamVersion(1), actor: user, service: nil, device: nil, command: nil, originalTime: nil,
      event: .user(user, .account(.registered(registration))))
  }

  /// - Parameter version: of the room's stream.
  func sent(_ message: UUIDBytes, _ text: String, version: UInt64, at stamp: Stamp) -> RecordedEvent {
    RecordedEvent(
      stamp: stamp, version: StreamVersion(version), actor: user, service: nil, device: nil, command: nil,
      originalTime: nil,
      event: .room(room, .messages(.sent(MessageID(message), author: user, thread: nil, .plain(text)))))
  }
}
