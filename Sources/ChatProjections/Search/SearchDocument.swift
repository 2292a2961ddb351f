import ChatPrimitives

/// The document of one indexed text for the full-text index: the labels that narrow down the candidates, and the text.
/// A label begins with a character that occurs in no word.
struct SearchDocument {
  static let endOfLabels = UInt8(ascii: "\n")
  static let betweenLabels = UInt8(ascii: " ")

  private(set) var bytes: [UInt8] = []

  /// Replaces the content and reuses the memory.
  mutating func set(_ indexedText: IndexedText) {
    bytes.removeAll(keepingCapacity: true)
    Self.append(roomLabel: indexedText.room, to: &bytes)
    bytes.append(Self.betweenLabels)
    Self.append(senderLabel: indexedText.sender, to: &bytes)
    if indexedText.hasMedia {
      bytes.append(Self.betweenLabels)
      bytes.append(contentsOf: Self.mediaLabel.utf8)
    }
    if !indexedText.type.isNone {
      bytes.append(Self.betweenLabels)
      Self.append(typeLabel: indexedText.type, to: &bytes)
    }
    bytes.append(Self.endOfLabels)
    bytes.append(contentsOf: indexedText.text)
    if !indexedText.extra.isEmpty {
      bytes.append(IndexedText.betweenParts)
      bytes.append(contentsOf: indexedText.extra)
    }
  }

  // MARK: - Labels

  static func label(room: Int64) -> String { label { append(roomLabel: room, to: &$0) } }
  static func label(sender: UserID) -> String { label { append(senderLabel: sender, to: &$0) } }
  static func label(type: TypeHash) -> String { label { append(typeLabel: type, to: &$0) } }
  static let mediaLabel = "#m"

  private static func label(_ append: (inout [UInt8]) -> Void) -> String {
    var bytes: [UInt8] = []
    append(&bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func append(roomLabel room: Int64, to bytes: inout [UInt8]) {
    append(UInt8(ascii: "r"), UInt64(bitPattern: room), to: &bytes)
  }

  /// The low forty bits of the ID. Users can share a label; then their rows distinguish them.
  private static func append(senderLabel sender: UserID, to bytes: inout [UInt8]) {
    append(UInt8(ascii: "s"), sender.uuid.low & 0xff_ffff_ffff, to: &bytes)
  }

  private static func append(typeLabel type: TypeHash, to bytes: inout [UInt8]) {
    append(UInt8(ascii: "t"), type.bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }, to: &bytes)
  }

  /// Appends the number in base 36, without a string for each message.
  private static func append(_ kind: UInt8, _ number: UInt64, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "#"))
    bytes.append(kind)
    let start = bytes.count
    var rest = number
    repeat {
      let digit = UInt8(rest % 36)
      bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
      rest /= 36
    } while rest > 0
    bytes[start...].reverse()
  }
}
