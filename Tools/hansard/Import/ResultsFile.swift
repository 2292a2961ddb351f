import ChatPrimitives
import ChatProtocol
import Foundation

/// Appends each result from the server to a file as soon as it arrives, one JSON object per line. The file therefore
/// contains only results that the server has sent.
final class ResultsFile {
  private let path: String
  private let file: FileHandle

  init(path: String) throws {
    self.path = path
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw ToolError("the file of results \(path) cannot be opened", because: SystemError.text(errno))
    }
    file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  func append(_ results: [(line: IngestBatch.Line, result: IngestResult)]) throws {
    var bytes: [UInt8] = []
    for (line, result) in results {
      var fields: [(String, JSONValue)] = [("op", .text(line.op)), ("id", .text(line.id.text))]
      if let room = line.room { fields.append(("roomId", .text(room.description))) }
      fields.append(("status", .count(result.status)))
      fields.append(("position", result.position.map { .number($0.value) } ?? .null))
      if let code = result.code { fields.append(("code", .text(code))) }
      JSONValue.object(fields).write(to: &bytes)
      bytes.append(UInt8(ascii: "\n"))
    }
    do {
      try file.write(contentsOf: Data(bytes))
    } catch {
      throw ToolError("the file of results \(path) cannot be written", because: error.localizedDescription)
    }
  }
}
