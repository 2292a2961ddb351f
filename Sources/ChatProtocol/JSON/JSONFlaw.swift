import ChatPrimitives

/// Why a JSON text is rejected, before any of it is decoded.
public enum JSONFlaw: Error, Hashable, Sendable {
  /// It has no byte, or only white space.
  case empty
  case invalidUTF8
  /// It does not conform to RFC 8259.
  case malformed(String, offset: Int)
  case duplicateMember(String)
  case tooDeep
  case tooManyValues
  case keyTooLong
  case numberTooLong
  case tooManyMarks

  /// Written for the client that sent the text. It begins in lower case and ends with a full stop.
  public var detail: String {
    switch self {
    case .empty: "it is empty."
    case .invalidUTF8: "it is not valid UTF-8."
    case .malformed(let what, let offset): "\(what) at byte \(offset)."
    case .duplicateMember(let name): "an object has the duplicate member \"\(name)\"."
    case .tooDeep: "arrays and objects are nested deeper than \(Limits.jsonDepth) levels."
    case .tooManyValues: "it has more than \(Limits.jsonValues) members and elements."
    case .keyTooLong: "the name of a member has more than \(Limits.jsonKeyBytes) bytes."
    case .numberTooLong: "a number has more than \(Limits.jsonNumberBytes) bytes."
    case .tooManyMarks: "a text has more than \(Limits.combiningMarks) combining marks in a row."
    }
  }
}
