import ChatPrimitives

/// The commands of one request.
struct IngestBatch: Sendable {
  /// A batch accepts another line of the history while it has fewer commands than this. One line adds only a few
  /// commands.
  static let targetLines = 2_000
  /// The same limit for bytes. It is far below `Limits.ingestBodyBytes`, so that one more long line cannot exceed that.
  static let targetBytes = 4 * 1024 * 1024

  /// One command of the batch, with which its result is matched.
  struct Line: Sendable {
    let op: String
    let id: UUIDBytes
    let room: RoomID?
    /// The line number in the history, starting at 1.
    let inputLine: Int
    /// The offset of the command in `body`, in bytes.
    let start: Int
  }

  /// A line of the history that cannot be sent.
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

  /// The part of the body that starts with this line.
  func body(from line: Int) -> ArraySlice<UInt8> { body[lines[line].start...] }
}
