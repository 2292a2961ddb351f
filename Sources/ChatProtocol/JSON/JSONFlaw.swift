import ChatPrimitives

/// Why a JSON text is refused, before anything of it is decoded.
public enum JSONFlaw: Error, Hashable, Sendable {
  case empty
  case invalidUTF8
  /// Not as RFC 8259 has it.
  case malformed(String, offset: Int)
  case duplicateMember(String)
  case tooDeep
  case tooManyValues
  case keyTooLong
  case numberTooLong
  case tooManyMarks

  /// For who sent it; it begins in lower case and ends with a full stop.
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
