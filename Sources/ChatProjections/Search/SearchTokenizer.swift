import GRDB
import GRDBSQLite

/// The tokens of a text for FTS5: each word, and in scripts that are searched by pairs, each pair of adjacent
/// characters. For a run `ABC`, the index contains `AB` and `BC`, but not `C` alone. A run of one character is a token
/// itself.
///
/// A document is a line of labels, separated by spaces and indexed unchanged, followed by the text, in which nothing
/// can look like a label. `SearchWords` has already divided the query into terms, so each string of it is one token.
final class SearchTokenizer: FTS5CustomTokenizer {
  static let name = "hansard"

  init(db: Database, arguments: [String]) {}

  func tokenize(
    context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?, nText: CInt,
    tokenCallback: @escaping FTS5TokenCallback
  ) -> CInt {
    guard let pText, nText > 0 else { return SQLITE_OK }
    if tokenization.contains(.query) { return tokenCallback(context, 0, pText, nText, 0, nText) }
    return pText.withMemoryRebound(to: UInt8.self, capacity: Int(nText)) { start in
      let document = UnsafeBufferPointer(start: start, count: Int(nText))
      var sink = TokenSink(context: context, callback: tokenCallback)
      let labelsEnd = document.firstIndex(of: SearchDocument.endOfLabels) ?? document.endIndex
      for label in document[..<labelsEnd].split(separator: SearchDocument.betweenLabels) {
        sink.take(UnsafeBufferPointer(rebasing: label))
      }
      guard labelsEnd < document.endIndex else { return sink.code }
      return NormalForm.withComposed(UnsafeBufferPointer(rebasing: document[(labelsEnd + 1)...])) { text in
        Self.cut(text, into: &sink)
        return sink.code
      }
    }
  }

  private static func cut(_ text: UnsafeBufferPointer<UInt8>, into sink: inout TokenSink) {
    var pairs = PairReading()
    TextScanner.scan(text) { folded, _ in
      sink.take(folded)
    } paired: { place, isJoined in
      if let token = pairs.next(place, isJoined) { sink.take(UnsafeBufferPointer(rebasing: text[token])) }
    }
    if let token = pairs.end() { sink.take(UnsafeBufferPointer(rebasing: text[token])) }
  }
}

/// Makes a token of each pair of adjacent characters in a run, and of the character in a run of one.
struct PairReading {
  private var last: Range<Int>?
  private var isAlone = false

  /// - Returns: the range of the token that this character completes: the pair with the previous character, or, at the
  ///   beginning of a run, the previous run if it had one character.
  mutating func next(_ place: Range<Int>, _ isJoined: Bool) -> Range<Int>? {
    defer {
      last = place
      isAlone = !isJoined
    }
    guard let last else { return nil }
    if isJoined { return last.lowerBound..<place.upperBound }
    return isAlone ? last : nil
  }

  /// - Returns: the range of the last run if it had one character.
  mutating func end() -> Range<Int>? {
    defer { last = nil }
    return isAlone ? last : nil
  }
}

/// Passes tokens to FTS5 until it reports an error.
private struct TokenSink {
  let context: UnsafeMutableRawPointer?
  let callback: FTS5TokenCallback
  private(set) var code: CInt = SQLITE_OK

  init(context: UnsafeMutableRawPointer?, callback: @escaping FTS5TokenCallback) {
    self.context = context
    self.callback = callback
  }

  /// The index stores no positions within a text, so the offsets can be zero.
  mutating func take(_ token: UnsafeBufferPointer<UInt8>) {
    guard code == SQLITE_OK, let start = token.baseAddress else { return }
    let count = CInt(clamping: token.count)
    code = start.withMemoryRebound(to: CChar.self, capacity: token.count) { callback(context, 0, $0, count, 0, 0) }
  }
}
