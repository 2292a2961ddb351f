import ChatDomain
import ChatPrimitives
import EventLogSimulation

/// Generated messages of one length, the same in every run. They consist of words in random order, so that they
/// compress like chat.
struct SampleMessages: Sendable {
  /// The length of a message's record before compression, in bytes: 8 for the record header, 72 for the envelope (40
  /// fixed bytes, 16 each for author and message), 3 for the payload's tag and length, and the text.
  static let recordBytes = 300
  static let textBytes = recordBytes - 83
  /// More text than the window of LZ4, so that a message is not compressed against an earlier copy of itself.
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

  /// The text for any number.
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

/// One user of the generated conversation, who writes to one room.
struct SampleAuthor: Sendable {
  let user: UserID
  let room: RoomID

  init(number: Int) {
    var random = SeededRandom(seed: UInt64(number) &+ 1)
    user = UserID(UUIDBytes(high: random.next(), low: random.next()))
    room = RoomID(UUIDBytes(high: random.next(), low: random.next()))
  }

  /// The first event of the author's own stream. It has the key from which the salts of the messages are derived.
  func registered(at stamp: Stamp) -> RecordedEvent {
    let key = user.uuid.bytes + room.uuid.bytes
    let registration = Registration(
      nickname: "writer", email: nil, externalID: nil, credential: nil, commitmentKey: key)
    return RecordedEvent(
      stamp: stamp, version: StreamVersion(1), actor: user, service: nil, device: nil, command: nil, originalTime: nil,
      event: .user(user, .account(.registered(registration))))
  }

  /// - Parameter version: The version of the room's stream.
  func sent(_ message: UUIDBytes, _ text: String, version: UInt64, at stamp: Stamp) -> RecordedEvent {
    RecordedEvent(
      stamp: stamp, version: StreamVersion(version), actor: user, service: nil, device: nil, command: nil,
      originalTime: nil,
      event: .room(room, .messages(.sent(MessageID(message), author: user, thread: nil, .plain(text)))))
  }
}
