import Foundation

/// The data directory of `hansard serve --conformance`. This mode opens endpoints to everyone, so it must not be used with
/// the data of a real server by mistake.
enum ConformanceDirectory {
  /// The first start writes this file, which marks the directory.
  static let marker = "conformance"

  /// Marks a directory that is empty or does not exist.
  static func prepare(_ path: String) throws {
    let files = FileManager.default
    do {
      try files.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      let content = try files.contentsOfDirectory(atPath: path)
      if content.contains(marker) { return }
      guard content.isEmpty else {
        throw ToolError(
          "\(path) cannot be used with --conformance",
          because: "it is neither empty nor the data directory of an earlier run with --conformance",
          next: "select an empty directory with --data")
      }
      try Data("This directory belongs to hansard serve --conformance.\n".utf8)
        .write(to: URL(fileURLWithPath: path).appendingPathComponent(marker), options: .withoutOverwriting)
    } catch let error as ToolError {
      throw error
    } catch {
      throw ToolError("the data directory \(path) cannot be prepared", because: error.localizedDescription)
    }
  }
}
