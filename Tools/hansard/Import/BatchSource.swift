import Dispatch
import Foundation

/// Reads a history and divides it into batches. It runs on its own thread because reading can block, so the next batch
/// is prepared while the previous one is in flight.
actor BatchSource {
  private let executor = QueueExecutor(label: "hansard.import.read")
  private let parser = HistoryParser()
  private var reader: LineReader
  private var plan = ImportPlan()
  private var lineNumber = 0

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// - Parameter descriptor: A descriptor that is open for reading. It is read to its end.
  init(_ descriptor: Int32) {
    reader = LineReader(descriptor)
  }

  /// The next batch. Nil at the end of the history.
  func next() throws -> IngestBatch? {
    var batch = IngestBatch()
    while !batch.isFull, let line = try reader.next() {
      lineNumber += 1
      switch line {
      case .tooLong:
        recordMalformed("it has more than \(LineReader.maximumLineBytes) bytes", in: &batch)
      case .text(let bytes):
        if bytes.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) { continue }
        do throws(HistoryParser.Flaw) {
          for command in plan.commands(for: try parser.parse(bytes)) {
            batch.append(command, inputLine: lineNumber)
          }
        } catch {
          recordMalformed(error.reason, in: &batch)
        }
      }
    }
    batch.bytesRead = reader.consumed
    batch.linesRead = plan.counts.lines
    return batch.isEmpty ? nil : batch
  }

  /// The counts and names of the history so far.
  var result: (counts: ImportCounts, report: ImportReport) {
    (plan.counts, ImportReport(plan))
  }

  private func recordMalformed(_ reason: String, in batch: inout IngestBatch) {
    plan.noteMalformedLine()
    batch.append(.init(inputLine: lineNumber, reason: reason))
  }
}

/// Runs an actor's jobs on a dispatch queue instead of the cooperative pool, which must not be blocked.
private final class QueueExecutor: SerialExecutor {
  private let queue: DispatchQueue

  init(label: String) {
    queue = DispatchQueue(label: label)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
