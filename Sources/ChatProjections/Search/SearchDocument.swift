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
    bytes.append(contentsOf: Self.label(room: indexedText.room).utf8)
    bytes.append(Self.betweenLabels)
    bytes.append(contentsOf: Self.label(sender: indexedText.sender).utf8)
    if indexedText.hasMedia {
      bytes.append(Self.betweenLabels)
      bytes.append(contentsOf: Self.mediaLabel.utf8)
    }
    if !indexedText.type.isNone {
      bytes.append(Self.betweenLabels)
      bytes.append(contentsOf: Self.label(type: indexedText.type).utf8)
    }
    bytes.append(Self.endOfLabels)
    bytes.append(contentsOf: indexedText.text)
    if !indexedText.extra.isEmpty {
      bytes.append(IndexedText.betweenParts)
      bytes.append(contentsOf: indexedText.extra)
    }
  }

  static func label(room: Int64) -> String { "#r" + String(room, radix: 36) }

  /// The label uses forty bits of the ID. Sometimes two users share one; then their rows distinguish them.
  static func label(sender: UserID) -> String { "#s" + String(sender.uuid.low & 0xff_ffff_ffff, radix: 36) }

  static let mediaLabel = "#m"

  static func label(type: TypeHash) -> String {
    "#t" + String(type.bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }, radix: 36)
  }
}
