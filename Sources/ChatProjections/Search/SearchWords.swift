/// The query of a user, divided at spaces into pieces. A message must contain all of them. A piece of several words,
/// such as `wi-fi` or `3시`, must occur with these words in this order, whatever is between them.
///
/// A word must be a whole word of the message, unless it ends with `*`: then a word may begin with it. In scripts that
/// are searched by pairs, a piece may be anywhere in a run. A piece of a single character is only found at the
/// beginning of a run, because the index has no single characters elsewhere.
package struct SearchWords: Sendable {
  struct Piece: Sendable, Hashable {
    struct Unit: Sendable, Hashable {
      let bytes: [UInt8]
      let isPaired: Bool
      let isJoined: Bool
    }

    let units: [Unit]
    /// Whether words may begin with the last word.
    let isOpen: Bool
  }

  /// One token of the index, or all tokens that begin with it.
  struct Term: Sendable, Hashable {
    let bytes: [UInt8]
    let isPrefix: Bool
  }

  /// The pieces without repetitions, which would not change the result.
  let pieces: [Piece]
  /// The terms for the index, without repetitions.
  let terms: [Term]

  /// - Returns: nil if the query contains no letters or digits.
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

  /// The terms by which the index finds messages with the piece. A single character that others follow gives no term:
  /// the index does not contain it if it ends a run, and the terms after it are sufficient.
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

// MARK: - FTS5 queries

extension SearchWords {
  /// A query in the syntax of <https://www.sqlite.org/fts5.html#full_text_query_syntax>. Each string is one token; see
  /// `SearchTokenizer`.
  var expression: String {
    terms.map { term in
      Self.quoted(String(decoding: term.bytes, as: UTF8.self)) + (term.isPrefix ? " *" : "")
    }.joined(separator: " AND ")
  }

  static func quoted(_ term: String) -> String { "\"" + term.replacing("\"", with: "\"\"") + "\"" }
}
