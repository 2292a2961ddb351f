import ChatPrimitives

/// The commands of one request.
struct IngestBatch: Sendable {
  /// One request has no more lines than this, give or take those of one line of the history.
  static let targetLines = 2_000
  /// Nor, likewise, more bytes. Far below `Limits.ingestBodyBytes`, so that one long line more does not reach that.
  static let targetBytes = 4 * 1024 * 1024

  /// What a result is matched with.
  struct Line: Sendable {
    let op: String
    let id: UUIDBytes
    let room: RoomID?
    /// Of the history, from 1.
    let inputLine: Int
    /// Where it begins in `body`, in bytes.
    let start: Int
  }

  /// A line of the history that was not sent.
  struct Malformed: Sendable {
    let inputLine: Int
    let reason: String
  }

  private(set) var body: [UInt8] = []
  private(set) var lines: [Line] = []
  private(set) var malformed: [Malformed] = []
  /// Bytes and lines of the history up to the end of this batch.
  var bytesRead: UInt64 = 0
  var linesRead: UInt64 = 0

  var isFull: Bool { lines.count >= Self.targetLines || body.count >= Self.targetBytes }
  var isEmpty: Bool { lines.isEmpty && malformed.isEmpty }

  mutating func append(_ command: ImportCommandLine, inputLine: Int) {
    lines.append(
      Line(op: command.op, id: command.id, room: command.room, inputLine: inputLine, start: body.count))
    command.fields.write(to: &body)
    body.append(UInt8(ascii: "\n"))
  }

  mutating func append(_ flaw: Malformed) {
    malformed.append(flaw)
  }

  /// The request's body from a line on.
  func body(from line: Int) -> ArraySlice<UInt8> { body[lines[line].start...] }
}
