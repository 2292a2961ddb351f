/// What a user searches for: pieces between spaces, all of which a message must hold. A piece that is more than one word,
/// such as `wi-fi` or `3시`, must be held as it stands, whatever is between its words.
///
/// A word must be a word of the message, unless `*` stands at its end: then a word may begin with it. In scripts that are
/// searched by pairs a piece may stand anywhere within a run; one of a single character is found where it begins a run, for
/// the index knows no other place of it.
package struct SearchWords: Sendable {
  struct Piece: Sendable, Hashable {
    struct Unit: Sendable, Hashable {
      let bytes: [UInt8]
      let isPaired: Bool
      let isJoined: Bool
    }

    let units: [Unit]
    /// The last word may go on.
    let isOpen: Bool
  }

  /// One word of the index, or all that begin with it.
  struct Term: Sendable, Hashable {
    let bytes: [UInt8]
    let isPrefix: Bool
  }

  /// Each once: a word that is repeated asks for nothing more.
  let pieces: [Piece]
  /// What the index is asked for; each once.
  let terms: [Term]

  /// - Returns: nil when there is no letter and no digit in it.
  package init?(_ query: String) {
    var pieces: [Piece] = []
    var terms: [Term] = []
    var known: Set<Term> = []
    var knownPieces: Set<Piece> = []
    for text in query.split(whereSeparator: \.isWhitespace) {
      guard let piece = Piece(text), knownPieces.insert(piece).inserted else { continue }
      pieces.append(piece)
      for term in piece.terms where known.insert(term).inserted { terms.append(term) }
    }
    guard !terms.isEmpty else { return nil }
    self.pieces = pieces
    self.terms = terms
  }
}

extension SearchWords.Piece {
  private static let open = "*"

  fileprivate init?(_ text: Substring) {
    var copy = String(text)
    let units = copy.withUTF8 { bytes in
      NormalForm.withComposed(bytes) { composed in
        let cut = TextUnits(composed)
        return zip(cut.units.indices, cut.units).map { index, unit in
          Unit(bytes: Array(cut.bytes(of: index)), isPaired: unit.isPaired, isJoined: unit.isJoined)
        }
      }
    }
    guard let last = units.last else { return nil }
    self.units = units
    isOpen = text.hasSuffix(Self.open) && !last.isPaired
  }

  /// What a message that holds the piece is found by. A single character that others follow gives none: where it ends a
  /// run, the index does not know it, and what follows it is enough.
  fileprivate var terms: [SearchWords.Term] {
    var terms: [SearchWords.Term] = []
    for (index, unit) in units.enumerated() {
      let isLast = index == units.count - 1
      if !unit.isPaired {
        terms.append(SearchWords.Term(bytes: unit.bytes, isPrefix: isLast && isOpen))
      } else if unit.isJoined {
        terms.append(SearchWords.Term(bytes: units[index - 1].bytes + unit.bytes, isPrefix: false))
      } else if isLast {
        terms.append(SearchWords.Term(bytes: unit.bytes, isPrefix: true))
      }
    }
    return terms
  }
}

// MARK: - The index's language

extension SearchWords {
  /// <https://www.sqlite.org/fts5.html#full_text_query_syntax>; a string is one term, see `SearchTokenizer`.
  var expression: String {
    terms.map { term in
      Self.quoted(String(decoding: term.bytes, as: UTF8.self)) + (term.isPrefix ? " *" : "")
    }.joined(separator: " AND ")
  }

  static func quoted(_ term: String) -> String { "\"" + term.replacing("\"", with: "\"\"") + "\"" }
}
