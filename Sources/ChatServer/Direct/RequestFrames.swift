import ChatPrimitives
import Foundation
import NIOCore

/// Says whether the HTTP decoder of a connection is between two requests. It counts the bytes that were passed to the decoder,
/// because the decoder does not report that it has the beginning of a head.
///
/// It does not follow pipelined requests, chunked bodies, and heads that arrive in several pieces. After one of these,
/// the state of the connection stays unknown.
struct RequestFrames: Sendable, Hashable {
  private enum State: Hashable {
    case between
    /// A body is missing this many bytes.
    case inBody(Int)
    case unknown
  }

  private var state = State.between

  var isBetween: Bool { state == .between }

  /// Counts bytes that are passed to the decoder.
  mutating func pass(_ bytes: ByteBuffer) {
    let missing: Int? =
      switch state {
      case .between: bytes.withUnsafeReadableBytes(Self.length).map { $0 - bytes.readableBytes }
      case .inBody(let missing): missing - bytes.readableBytes
      case .unknown: nil
      }
    guard let missing, missing >= 0 else {
      state = .unknown
      return
    }
    state = missing == 0 ? .between : .inBody(missing)
  }

  private static let endOfHead = Array("\r\n\r\n".utf8)
  private static let contentLength = Array("\r\ncontent-length:".utf8)
  private static let transferEncoding = Array("\r\ntransfer-encoding".utf8)

  /// The length of the request with which the bytes begin.
  private static func length(_ bytes: UnsafeRawBufferPointer) -> Int? {
    let limited = UnsafeRawBufferPointer(rebasing: bytes.prefix(Limits.directHeadBytes))
    guard let end = index(of: endOfHead, in: limited[...]) else { return nil }
    let head = limited[..<(end + 2)]
    let headBytes = end + endOfHead.count
    guard index(of: transferEncoding, in: head) == nil else { return nil }
    guard let field = index(of: contentLength, in: head) else { return headBytes }
    let rest = head[(field + contentLength.count)...]
    guard index(of: contentLength, in: rest) == nil else { return nil }
    let digits = rest.drop { $0 == UInt8(ascii: " ") }.prefix { $0 != UInt8(ascii: "\r") }
    guard let bodyBytes = Int(String(decoding: digits, as: UTF8.self)), bodyBytes >= 0 else { return nil }
    return headBytes.addingReportingOverflow(bodyBytes).overflow ? nil : headBytes + bodyBytes
  }

  /// Where `text`, which is in lower case, begins in the bytes. Upper and lower case do not matter.
  private static func index(of text: [UInt8], in bytes: Slice<UnsafeRawBufferPointer>) -> Int? {
    guard bytes.count >= text.count else { return nil }
    for start in bytes.startIndex...(bytes.endIndex - text.count) where bytes[start] == text[0] {
      if text.indices.allSatisfy({ bytes[start + $0].inLowercase == text[$0] }) { return start }
    }
    return nil
  }
}
