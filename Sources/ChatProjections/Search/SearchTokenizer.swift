import GRDB
import GRDBSQLite

/// Tells FTS5 the tokens of a text: each word, and of runs in scripts that are searched by pairs each two neighbours.
/// Of a run `ABC` the index holds `AB` and `BC`, and no `C` by itself; a run of one character is a word.
///
/// A document is a line of labels, separated by spaces and taken as they are, and then the text, in which nothing can pass
/// for a label. What is searched for has been cut up before (`SearchWords`), so a query's string is one term.
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

/// Makes pairs of the characters of a run, and a single one of a run that has no second.
struct PairReading {
  private var last: Range<Int>?
  private var isAlone = false

  /// - Returns: where the token stands that this character completes: the pair with the one before, or, when a run begins,
  ///   the run before it, if that was of one character.
  mutating func next(_ place: Range<Int>, _ isJoined: Bool) -> Range<Int>? {
    defer {
      last = place
      isAlone = !isJoined
    }
    guard let last else { return nil }
    if isJoined { return last.lowerBound..<place.upperBound }
    return isAlone ? last : nil
  }

  /// - Returns: where the last run stands, if it was of one character.
  mutating func end() -> Range<Int>? {
    defer { last = nil }
    return isAlone ? last : nil
  }
}

/// Hands tokens to FTS5 until it wants no more.
private struct TokenSink {
  let context: UnsafeMutableRawPointer?
  let callback: FTS5TokenCallback
  private(set) var code: CInt = SQLITE_OK

  init(context: UnsafeMutableRawPointer?, callback: @escaping FTS5TokenCallback) {
    self.context = context
    self.callback = callback
  }

  /// An index that keeps only rows has no use for the position of a token in the text.
  mutating func take(_ token: UnsafeBufferPointer<UInt8>) {
    guard code == SQLITE_OK, let start = token.baseAddress else { return }
    let count = CInt(clamping: token.count)
    code = start.withMemoryRebound(to: CChar.self, capacity: token.count) { callback(context, 0, $0, count, 0, 0) }
  }
}
