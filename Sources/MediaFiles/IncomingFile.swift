import Crypto
import Glibc
import NIOCore

/// A file while it is uploaded. It is written, hashed and counted piece by piece, and is never in memory as a whole.
/// Every function blocks on the disk. The owner must end it with `finish` or `discard`.
struct IncomingFile: Sendable {
  let path: String
  private let descriptor: Int32
  private let limit: Int
  private var hasher = SHA256()
  private(set) var size = 0
  private var head: [UInt8] = []

  /// - Parameter limit: the maximum size, in bytes.
  init(in folder: MediaFolder, limit: Int) throws(MediaError) {
    path = folder.freshIncoming()
    self.limit = limit
    descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MediaFolder.fileMode)
    guard descriptor >= 0 else { throw MediaFolder.failure("cannot be made", path) }
  }

  mutating func write(_ piece: ByteBuffer) throws(MediaError) {
    let view = piece.readableBytesView
    guard size + view.count <= limit else { throw .tooLarge(limit: limit) }
    var bytes = view[...]
    while !bytes.isEmpty {
      let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw MediaFolder.failure("cannot be written", path) }
      bytes = bytes.dropFirst(written)
    }
    view.withUnsafeBytes { hasher.update(bufferPointer: $0) }
    size += view.count
    if head.count < ContentType.sniffedBytes { head += view.prefix(ContentType.sniffedBytes - head.count) }
  }

  /// Syncs and closes the file.
  func finish() throws(MediaError) -> ReceivedFile {
    guard size > 0 else { throw .empty }
    guard let hash = ContentHash(Array(hasher.finalize())) else { throw .failed("SHA-256 has 32 bytes") }
    try close()
    return ReceivedFile(path: path, hash: hash, size: size, contentType: ContentType.sniff(head))
  }

  /// Syncs and closes the file, whatever it contains. If this throws, the file is still open.
  func close() throws(MediaError) {
    guard fsync(descriptor) == 0 else { throw MediaFolder.failure("cannot be synced", path) }
    Glibc.close(descriptor)
  }

  func discard() {
    Glibc.close(descriptor)
    unlink(path)
  }
}

/// A completely uploaded file that is on the disk under a temporary name, to which nothing refers yet.
package struct ReceivedFile: Sendable, Hashable {
  package let path: String
  package let hash: ContentHash
  /// The size, in bytes.
  package let size: Int
  /// The content type, detected from the bytes.
  package let contentType: String
}
