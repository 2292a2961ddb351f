import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The files of read models that this server does not use: those of other schema versions, those that were moved aside,
/// and the push outbox while push is off. They are not updated, so they still contain what was deleted since. They can
/// be deleted, because every read model can be built again from the log.
struct UnusedFiles {
  let directory: String
  /// The names of the files in use, by the name of their projection.
  private let inUse: [String: String]
  /// The names of the projections of which no file is in use.
  private let closed: Set<String>

  init(in directory: String, of projections: [any Projection.Type], closed: [any Projection.Type] = []) {
    self.directory = directory
    inUse = Dictionary(
      uniqueKeysWithValues: projections.map { ($0.name, ProjectionFile($0, in: directory).name) })
    self.closed = Set(closed.map { $0.name })
  }

  /// Removes them. A directory stays, because its files may be somebody's.
  func remove() throws(ProjectionError) {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    for entry in entries where isUnused(entry) {
      let path = "\(directory)/\(entry)"
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else { continue }
      guard unlink(path) == 0 || errno == ENOENT else {
        let reason = String(cString: strerror(errno))
        throw ProjectionError(.fileFailed, "a file that is no longer used cannot be removed: \(reason)", file: path)
      }
    }
  }

  /// A file of a read model has the name `<projection>-v<version>.sqlite`, with suffixes for its companions and copies.
  private func isUnused(_ entry: String) -> Bool {
    guard let separator = entry.range(of: "-v") else { return false }
    let name = String(entry[..<separator.lowerBound])
    guard let current = inUse[name] else { return false }
    let version = entry[separator.upperBound...].prefix { $0.isASCII && $0.isNumber }
    let rest = entry[version.endIndex...]
    guard !version.isEmpty, rest.hasPrefix(".sqlite") else { return false }
    return closed.contains(name) || !entry.hasPrefix(current) || entry.dropFirst(current.count).hasPrefix(".aside")
  }
}
