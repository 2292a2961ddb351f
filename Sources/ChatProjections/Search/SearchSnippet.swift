/// The part of a text with the hits, on one line, with each hit between `«` and `»`. These characters in the text
/// itself are replaced by `‹` and `›`, so that every `«` in a snippet begins a hit.
struct SearchSnippet {
  /// The maximum number of characters of the text that are shown.
  static let shownCharacters = 160
  /// How many of them precede the first hit if the text is truncated.
  private static let leadingCharacters = 40
  private static let cut = "…"

  private let text: Substring
  private let marks: [(place: Range<String.Index>, isHit: Bool)]

  /// - Parameters:
  ///   - composed: UTF-8 in composed form.
  ///   - places: the ranges of the hits in it.
  init(_ composed: UnsafeBufferPointer<UInt8>, _ places: [Range<Int>]) {
    let text = String(decoding: composed, as: UTF8.self)
    func index(_ offset: Int) -> String.Index {
      text.utf8.index(text.startIndex, offsetBy: offset, limitedBy: text.endIndex) ?? text.endIndex
    }
    let hits = places.map { index($0.lowerBound)..<index($0.upperBound) }
    let first = hits.first?.lowerBound ?? text.startIndex
    // This does not count the characters of a long text to its end.
    let whole = text.index(text.startIndex, offsetBy: Self.shownCharacters + 1, limitedBy: text.endIndex) == nil
    let start = whole ? text.startIndex : Self.start(in: text, before: first)
    let end = text.index(start, offsetBy: Self.shownCharacters, limitedBy: text.endIndex) ?? text.endIndex
    var marks: [(Range<String.Index>, Bool)] = []
    var reached = start
    for hit in hits where hit.upperBound > start && hit.lowerBound < end {
      let (lower, upper) = (max(hit.lowerBound, reached), min(hit.upperBound, end))
      guard lower < upper else { continue }
      marks.append((reached..<lower, false))
      marks.append((lower..<upper, true))
      reached = upper
    }
    if reached < end { marks.append((reached..<end, false)) }
    self.text = text[start..<end]
    self.marks = marks
  }

  /// The beginning of a snippet: `leadingCharacters` before the first hit, or at the beginning of the first word after
  /// that.
  private static func start(in text: String, before hit: String.Index) -> String.Index {
    let hit = text.index(hit, offsetBy: 0)
    guard let far = text.index(hit, offsetBy: -leadingCharacters, limitedBy: text.startIndex) else {
      return text.startIndex
    }
    guard let space = text[far..<hit].firstIndex(where: \.isWhitespace) else { return far }
    return text.index(after: space)
  }

  var marked: String {
    var shown = text.startIndex > text.base.startIndex ? Self.cut : ""
    for (place, isHit) in marks {
      let part = Self.plain(text.base[place])
      shown += isHit ? "«\(part)»" : part
    }
    return text.endIndex < text.base.endIndex ? shown + Self.cut : shown
  }

  private static func plain(_ part: Substring) -> String {
    String(
      part.map { character in
        switch character {
        case "«": "‹"
        case "»": "›"
        case _ where character.isWhitespace: " "
        default: character
        }
      })
  }
}
