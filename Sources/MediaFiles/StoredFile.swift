import ChatPrimitives
import Glibc
package import NIOCore
import NIOPosix

/// A file of the media directory, open for reading. It can be read to the end even if it is removed meanwhile.
package final class StoredFile: Sendable {
  /// The size, in bytes.
  package let size: Int
  private let descriptor: Int32
  private let path: String
  private let pool: NIOThreadPool

  /// Blocks on the disk.
  /// - Returns: nil if there is no such file.
  init?(_ path: String, _ pool: NIOThreadPool) throws(MediaError) {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw MediaFolder.failure("cannot be opened", path)
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size >= 0 else {
      let failure = MediaFolder.failure("cannot be examined", path)
      close(descriptor)
      throw failure
    }
    size = Int(status.st_size)
    self.descriptor = descriptor
    self.path = path
    self.pool = pool
  }

  deinit { close(descriptor) }

  /// Calls `take` with the bytes of a range, piece by piece. Each call waits until the previous one has returned. Reads
  /// from the disk run outside the cooperative thread pool.
  package func read(_ range: Range<Int>, _ take: (ByteBuffer) async throws -> Void) async throws {
    var offset = range.lowerBound
    while offset < range.upperBound {
      let (from, count) = (offset, min(Limits.responsePieceBytes, range.upperBound - offset))
      let piece = try await pool.runIfActive { try self.piece(at: from, count: count) }
      offset += piece.readableBytes
      try await take(piece)
    }
  }

  private func piece(at offset: Int, count: Int) throws(MediaError) -> ByteBuffer {
    var buffer = ByteBufferAllocator().buffer(capacity: count)
    var result = 0
    repeat {
      result = buffer.withUnsafeMutableWritableBytes { bytes in
        pread(descriptor, bytes.baseAddress, min(bytes.count, count), off_t(offset))
      }
    } while result < 0 && errno == EINTR
    guard result > 0 else {
      throw result < 0
        ? MediaFolder.failure("cannot be read", path) : .failed("\(path) is shorter than it was")
    }
    buffer.moveWriterIndex(forwardBy: result)
    return buffer
  }
}
