import EventLog
import Foundation

/// Reads tree heads and keys that are named on the command line.
enum CheckpointFiles {
  /// The verifier key in the argument, which is either the key's text or a file that contains it.
  static func key(_ argument: String) throws -> VerifierKey {
    let isFile = FileManager.default.fileExists(atPath: argument)
    // The text of a key contains plus signs. Most paths contain none.
    guard isFile || argument.utf8.contains(UInt8(ascii: "+")) else {
      throw ToolError(
        "the file \(argument) does not exist", because: "it is not the text of a verifier key either",
        next: "name a checkpoint.pub")
    }
    let text =
      isFile
      ? String(decoding: try RegularFile.read(argument, limit: VerifierKey.maximumTextBytes), as: UTF8.self) : argument
    do {
      return try VerifierKey(parsing: text)
    } catch {
      throw ToolError(
        "\(argument) is neither a verifier key nor a file that contains one", because: error.reason,
        next: "name a checkpoint.pub")
    }
  }

  static func note(_ path: String) throws -> SignedNote {
    let content = try RegularFile.read(path, limit: SignedNote.maximumBytes)
    do {
      return try SignedNote(parsing: content)
    } catch {
      throw ToolError("\(path) is not a tree head", because: error.reason, exit: .found)
    }
  }
}
