import Foundation
import Glibc

/// The load generator of Tools/bench live. It reads instructions from standard input, one line of JSON each, and writes a
/// report for each. It has one thread, so that it takes at most one processor, and counts the processor time that it uses.
@main
enum Load {
  private static let idleMilliseconds: Int32 = 100

  static func main() {
    do {
      try run()
    } catch {
      FileHandle.standardError.write(Data("the load generator failed: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run() throws {
    let buffer = ReadBuffer()
    var streams = Streams()
    while let line = try nextLine(&streams) {
      var report: Report
      do {
        let instruction = try JSONDecoder().decode(Instruction.self, from: Data(line.utf8))
        report = try perform(instruction, &streams, buffer)
      } catch let failure as Failure {
        report = Report(error: failure.text)
      }
      report.streams = streams.connections.count
      print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
      // Into a pipe, `print` writes only when its buffer is full.
      fflush(nil)
    }
  }

  private static func perform(
    _ instruction: Instruction, _ streams: inout Streams, _ buffer: ReadBuffer
  ) throws -> Report {
    if let open = instruction.open { try streams.open(open, buffer) }
    if instruction.close == true { streams.close() }
    if let plan = instruction.requests { return try RequestSequence.run(plan, buffer) }
    if let plan = instruction.deliver {
      let delivery = try Delivery(plan, to: streams, buffer)
      return try delivery.run(&streams)
    }
    return Report()
  }

  /// Waits for the next line of standard input, and meanwhile takes what the streams get. Returns nil at its end.
  private static func nextLine(_ streams: inout Streams) throws -> String? {
    let poller = Poller()
    defer { poller.close() }
    let connections = streams.connections
    for (index, stream) in connections.enumerated() { try poller.add(stream.descriptor, index) }
    try poller.add(STDIN_FILENO, connections.count)
    var hasLine = false
    while !hasLine {
      try poller.wait(milliseconds: idleMilliseconds) { number in
        if number < connections.count { try connections[number].drain() } else { hasLine = true }
      }
      try streams.keepAlive()
    }
    return readLine()
  }
}
