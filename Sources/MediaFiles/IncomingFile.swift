import Crypto
import Glibc
import NIOCore

/// A file while it comes in: written, hashed and counted piece by piece, never held as a whole. Each function blocks on
/// the disk. Whoever begins one ends it with `finish` or `discard`.
struct IncomingFile: Sendable {
  let path: String
  private let descriptor: Int32
  private let limit: Int
  private var hasher = SHA256()
  private(set) var size = 0
  private var head: [UInt8] = []

  /// - Parameter limit: in bytes.
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

  /// Syncs and closes it.
  func finish() throws(MediaError) -> ReceivedFile {
    guard size > 0 else { throw .empty }
    guard let hash = ContentHash(Array(hasher.finalize())) else { throw .failed("SHA-256 has 32 bytes") }
    try close()
    return ReceivedFile(path: path, hash: hash, size: size, contentType: ContentType.sniff(head))
  }

  /// Syncs and closes it, whatever is in it. When it throws, it is open still.
  func close() throws(MediaError) {
    guard fsync(descriptor) == 0 else { throw MediaFolder.failure("cannot be synced", path) }
    Glibc.close(descriptor)
  }

  func discard() {
    Glibc.close(descriptor)
    unlink(path)
  }
}

/// A file that came in whole and is on the disk, under a name that nothing refers to yet.
package struct ReceivedFile: Sendable, Hashable {
  package let path: String
  package let hash: ContentHash
  /// In bytes.
  package let size: Int
  /// As its bytes say.
  package let contentType: String
}
