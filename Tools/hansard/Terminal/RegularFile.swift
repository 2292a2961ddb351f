import Foundation

/// Reads whole files. Only regular files are read, because reading a FIFO would block until something writes to it.
enum RegularFile {
  /// Reads a file of at most `limit` bytes.
  /// - Throws: `ToolError` if the file cannot be opened, is not a regular file, or is longer than the limit.
  static func read(_ path: String, limit: Int) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw ToolError(
        "\(path) cannot be read", because: SystemError.text(errno), next: "check its name and its permissions")
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw ToolError("\(path) is not a regular file", next: "copy it into a file first")
    }
    let content = try handle.read(upToCount: limit + 1) ?? Data()
    guard content.count <= limit else { throw ToolError("\(path) is longer than \(limit) bytes") }
    return Array(content)
  }
}
