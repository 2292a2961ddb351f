import ChatPrimitives
import HTTPTypes

/// Rejects requests whose path, query or header fields have more combining marks in a row than a text may have.
/// Comparing such a text takes time that grows with the square of their number. Bodies are checked where they are read.
enum StreamSafeRequest {
  static func require(target: String, _ headers: HTTPFields) throws(Refusal) {
    guard isSafe(target: target) else { throw .tooManyMarksInTarget }
    for field in headers where !CombiningMarks.areFew(in: field.value) { throw .tooManyMarksInHeader }
  }

  /// Checks the target after percent-decoding.
  private static func isSafe(target: String) -> Bool {
    let bytes = target.utf8
    guard bytes.contains(where: { $0 == UInt8(ascii: "%") || $0 >= 0x80 }) else { return true }
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      if bytes[index] == UInt8(ascii: "%"), let end = bytes.index(index, offsetBy: 3, limitedBy: bytes.endIndex),
        let byte = UInt8(String(decoding: bytes[bytes.index(after: index)..<end], as: UTF8.self), radix: 16)
      {
        decoded.append(byte)
        index = end
      } else {
        decoded.append(bytes[index])
        index = bytes.index(after: index)
      }
    }
    return CombiningMarks.areFew(in: String(decoding: decoded, as: UTF8.self))
  }
}
