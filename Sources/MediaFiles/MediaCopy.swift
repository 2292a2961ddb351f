import ChatPrimitives
import Crypto
import Foundation
import Glibc

/// Copies uploaded files from one media directory to another, also while a server uses the first one. Files that the
/// other already has are not copied, because a file never changes under its name. Every function blocks on the disk.
package struct MediaCopy {
  package struct Report: Sendable, Hashable {
    /// The files that both directories have now.
    package var files = 0
    package var copied = 0
    package var bytesCopied: UInt64 = 0
    /// The paths of files whose bytes do not match their names. They are not copied.
    package var damaged: [String] = []
  }

  /// The number of bytes to copy at a time.
  private static let pieceBytes = 1024 * 1024
  private static let unfinishedSuffix = ".tmp"
  private static let directoryMode: mode_t = 0o700

  private let source: String
  private let target: String

  /// - Parameters:
  ///   - source: a media directory; it may be missing.
  ///   - target: the other one, which is created if it is missing.
  package init(from source: String, to target: String) {
    self.source = source
    self.target = target
  }

  /// - Parameter progress: called with the number of files that are done.
  package func run(progress: (_ done: UInt64) -> Void = { _ in }) throws(MediaError) -> Report {
    var report = Report()
    try makeDirectory(target)
    for directory in try directories(of: source) {
      for name in try names(in: "\(source)/\(directory)") where ContentHash(hex: directory + name) != nil {
        try copy("\(directory)/\(name)", &report)
        progress(UInt64(report.files))
      }
      let copy = "\(target)/\(directory)"
      if access(copy, F_OK) == 0 { try MediaFolder.sync(copy) }
    }
    try MediaFolder.sync(target)
    return report
  }

  /// Removes the files that only the target has. Does nothing if there is no source.
  /// - Returns: how many files were removed.
  package func removeOthers() throws(MediaError) -> Int {
    guard access(source, F_OK) == 0 else { return 0 }
    var removed = 0
    for directory in try directories(of: target) {
      for name in try names(in: "\(target)/\(directory)") where access("\(source)/\(directory)/\(name)", F_OK) != 0 {
        try MediaFolder.remove("\(target)/\(directory)/\(name)")
        removed += 1
      }
    }
    return removed
  }

  // MARK: - One file

  private func copy(_ name: String, _ report: inout Report) throws(MediaError) {
    let (from, to) = ("\(source)/\(name)", "\(target)/\(name)")
    if access(to, F_OK) == 0 {
      report.files += 1
      return
    }
    let input = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if input < 0, errno == ENOENT { return }
    guard input >= 0 else { throw MediaFolder.failure("cannot be opened", from) }
    defer { close(input) }
    try makeDirectory((to as NSString).deletingLastPathComponent)
    let unfinished = to + Self.unfinishedSuffix
    let bytes = try write(input, from, to: unfinished)
    // The copy is read again, so that this checks both files.
    guard try hash(of: unfinished) == ContentHash(hex: name.filter { $0 != "/" }) else {
      try MediaFolder.remove(unfinished)
      report.damaged.append(from)
      return
    }
    guard rename(unfinished, to) == 0 else { throw MediaFolder.failure("cannot be renamed", unfinished) }
    report.files += 1
    report.copied += 1
    report.bytesCopied += bytes
  }

  private func write(_ input: Int32, _ from: String, to path: String) throws(MediaError) -> UInt64 {
    try MediaFolder.remove(path)
    let output = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MediaFolder.fileMode)
    guard output >= 0 else { throw MediaFolder.failure("cannot be created", path) }
    defer { close(output) }
    var total: UInt64 = 0
    try forEachPiece(of: input, from) { (piece) throws(MediaError) in
      var rest = UnsafeRawBufferPointer(piece)
      while !rest.isEmpty {
        let written = Glibc.write(output, rest.baseAddress, rest.count)
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { throw MediaFolder.failure("cannot be written", path) }
        rest = UnsafeRawBufferPointer(rebasing: rest[written...])
      }
      total += UInt64(piece.count)
    }
    guard fsync(output) == 0 else { throw MediaFolder.failure("cannot be synced", path) }
    return total
  }

  private func hash(of path: String) throws(MediaError) -> ContentHash? {
    let input = open(path, O_RDONLY | O_CLOEXEC)
    guard input >= 0 else { throw MediaFolder.failure("cannot be opened", path) }
    defer { close(input) }
    var hasher = SHA256()
    try forEachPiece(of: input, path) { (piece) throws(MediaError) in
      hasher.update(bufferPointer: UnsafeRawBufferPointer(piece))
    }
    return ContentHash(Array(hasher.finalize()))
  }

  private func forEachPiece(
    of input: Int32, _ path: String, _ body: (UnsafeMutableRawBufferPointer) throws(MediaError) -> Void
  ) throws(MediaError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceBytes, alignment: 1)
    defer { buffer.deallocate() }
    while true {
      let count = read(input, buffer.baseAddress, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw MediaFolder.failure("cannot be read", path) }
      if count == 0 { return }
      try body(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
    }
  }

  // MARK: - Directories

  private func directories(of path: String) throws(MediaError) -> [String] {
    guard access(path, F_OK) == 0 else { return [] }
    return try MediaFolder.entries(of: path).filter { $0.utf8.count == 2 }.sorted()
  }

  private func names(in directory: String) throws(MediaError) -> [String] {
    try MediaFolder.entries(of: directory).sorted()
  }

  private func makeDirectory(_ path: String) throws(MediaError) {
    guard mkdir(path, Self.directoryMode) == 0 || errno == EEXIST else {
      throw MediaFolder.failure("cannot be created", path)
    }
  }
}
