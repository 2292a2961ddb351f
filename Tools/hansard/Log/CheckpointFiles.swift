import EventLog
import Foundation

/// Tree heads, proofs and keys that are named on the command line.
enum CheckpointFiles {
  /// The key that a text or a file holds.
  static func key(_ argument: String) throws -> VerifierKey {
    let text =
      FileManager.default.fileExists(atPath: argument)
      ? String(decoding: try bytes(argument, limit: VerifierKey.maximumTextBytes), as: UTF8.self) : argument
    do {
      return try VerifierKey(parsing: text)
    } catch {
      throw ToolError(
        "\(argument) is neither a verifier key nor a file that holds one", because: error.reason,
        next: "name a checkpoint.pub")
    }
  }

  static func note(_ path: String) throws -> SignedNote {
    let content = try bytes(path, limit: SignedNote.maximumBytes)
    do {
      return try SignedNote(parsing: content)
    } catch {
      throw ToolError("\(path) is no tree head", because: error.reason, exit: .found)
    }
  }

  /// Reads a file of at most `limit` bytes.
  static func bytes(_ path: String, limit: Int) throws -> [UInt8] {
    guard let handle = FileHandle(forReadingAtPath: path) else {
      throw ToolError("\(path) cannot be read", next: "look at its name and its permissions")
    }
    defer { try? handle.close() }
    let content = try handle.read(upToCount: limit + 1) ?? Data()
    guard content.count <= limit else { throw ToolError("\(path) is longer than \(limit) bytes") }
    return Array(content)
  }
}
