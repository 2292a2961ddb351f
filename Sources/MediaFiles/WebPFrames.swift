import ChatPrimitives
import Glibc

/// Counts the frames of a WebP file from the headers of its chunks, without decoding anything
/// (<https://developers.google.com/speed/webp/docs/riff_container>).
enum WebPFrames {
  private static let headerBytes = 12
  private static let chunkHeaderBytes = 8

  /// Whether the file has at most `Limits.webPFrames` frames; true for every file that is not a WebP. If a file has
  /// more than `Limits.webPChunks` chunks, reading stops and it counts as having too many frames. Blocks on the disk.
  static func areFew(in path: String) throws(MediaError) -> Bool {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw MediaFolder.failure("cannot be opened", path) }
    defer { close(descriptor) }
    guard let head = bytes(of: descriptor, at: 0, count: headerBytes), head[0..<4].elementsEqual("RIFF".utf8),
      head[8..<12].elementsEqual("WEBP".utf8)
    else { return true }
    let end = length(in: head) + chunkHeaderBytes
    var offset = headerBytes
    var (chunks, frames) = (0, 0)
    while offset < end, let chunk = bytes(of: descriptor, at: offset, count: chunkHeaderBytes) {
      chunks += 1
      if chunk[0..<4].elementsEqual("ANMF".utf8) { frames += 1 }
      guard frames <= Limits.webPFrames, chunks <= Limits.webPChunks else { return false }
      let size = length(in: chunk)
      // A chunk of odd length is followed by a padding byte.
      offset += chunkHeaderBytes + size + size % 2
    }
    return true
  }

  /// - Returns: nil if the file has fewer bytes.
  private static func bytes(of descriptor: Int32, at offset: Int, count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var result = 0
    repeat {
      result = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
    } while result < 0 && errno == EINTR
    return result == count ? bytes : nil
  }

  /// The length field, which follows the name of a chunk, or `RIFF` at the start of the file.
  private static func length(in head: [UInt8]) -> Int {
    (0..<4).reduce(0) { $0 | Int(head[4 + $1]) << (8 * $1) }
  }
}
