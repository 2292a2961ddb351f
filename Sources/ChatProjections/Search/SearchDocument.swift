import ChatPrimitives

/// What the index is given of one indexed text: labels by which its candidates are narrowed down, and the text. A label
/// begins with a character that no word holds.
struct SearchDocument {
  static let endOfLabels = UInt8(ascii: "\n")
  static let betweenLabels = UInt8(ascii: " ")

  private(set) var bytes: [UInt8] = []

  /// Begins anew; the memory is used again.
  mutating func set(_ indexedText: IndexedText) {
    bytes.removeAll(keepingCapacity: true)
    bytes.append(contentsOf: Self.label(room: indexedText.room).utf8)
    bytes.append(Self.betweenLabels)
    bytes.append(contentsOf: Self.label(sender: indexedText.sender).utf8)
    if indexedText.hasMedia {
      bytes.append(Self.betweenLabels)
      bytes.append(contentsOf: Self.mediaLabel.utf8)
    }
    bytes.append(Self.endOfLabels)
    bytes.append(contentsOf: indexedText.text)
    if !indexedText.extra.isEmpty {
      bytes.append(IndexedText.betweenParts)
      bytes.append(contentsOf: indexedText.extra)
    }
  }

  static func label(room: Int64) -> String { "#r" + String(room, radix: 36) }

  /// Of forty bits of the ID: now and then of two users, which their rows tell apart.
  static func label(sender: UserID) -> String { "#s" + String(sender.uuid.low & 0xff_ffff_ffff, radix: 36) }

  static let mediaLabel = "#m"
}
