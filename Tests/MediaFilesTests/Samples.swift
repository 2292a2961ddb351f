import ChatPrimitives
import Foundation
import NIOCore

@testable import MediaFiles

/// A content hash for which there is no content.
func sample(_ byte: UInt8) -> ContentHash {
  guard let hash = ContentHash([UInt8](repeating: byte, count: ContentHash.byteCount)) else {
    fatalError("a sample has the length of a hash")
  }
  return hash
}

func user(_ number: UInt64) -> UserID { UserID(UUIDBytes(high: 1, low: number)) }
let anna = user(1_000_000)

/// A folder that is removed with its last reference.
final class TemporaryFolder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "media-files-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var media: String { path + "/media" }
}

/// A body in several pieces.
func body(_ pieces: [[UInt8]]) -> AsyncStream<ByteBuffer> {
  AsyncStream { continuation in
    for piece in pieces { continuation.yield(ByteBuffer(bytes: piece)) }
    continuation.finish()
  }
}
