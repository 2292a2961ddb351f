import ChatPrimitives
import ChatService
import Logging

/// Lines that were queued together, with what is already known about each.
struct IngestBatch: Sendable {
  enum LineState: Sendable {
    /// The line is one of the batch's commands, which are in the same order.
    case queued
    case refused(any Error)
  }

  let lines: [(number: Int, state: LineState)]
  let commands: BulkResults
}

/// Converts batches to results, in order.
struct IngestResults {
  let logger: Logger
  /// Set when the server itself failed. Every later line then has this result.
  private var ended: LineRefusal?
  /// One refusal for each limit, so that a flood of rejected lines does not create a text for each line.
  private var rateRefusals: [String: LineRefusal] = [:]

  init(logger: Logger) {
    self.logger = logger
  }

  /// The result of each line, once every command of the batch is durable or rejected.
  mutating func results(of batch: IngestBatch) async -> [(line: Int, result: LineResult)] {
    var outcomes = await batch.commands.results().makeIterator()
    var results: [(line: Int, result: LineResult)] = []
    results.reserveCapacity(batch.lines.count)
    for (number, state) in batch.lines {
      switch state {
      case .refused(let error): results.append((number, .refused(refusal(error, ofLine: number))))
      case .queued:
        switch outcomes.next() ?? .failure(.failed("a line without a result")) {
        case .success(let receipt):
          let result = LineResult.done(LineEffect(of: receipt), receipt.position)
          results.append((number, ended.map { .refused($0) } ?? result))
        case .failure(let error): results.append((number, .refused(refusal(error, ofLine: number))))
        }
      }
    }
    return results
  }

  private mutating func refusal(_ error: any Error, ofLine line: Int) -> LineRefusal {
    if let ended { return ended }
    if case Refusal.rateLimited(let rateStatus) = error { return rateRefusal(rateStatus.name) }
    let mapping = ProblemMapping(error)
    if mapping.code == ProblemCode.internalError.rawValue {
      logger.error("a line of an ingest failed", metadata: ["line": "\(line)", "error": "\(LoggedError.text(error))"])
    }
    let refusal = LineRefusal(mapping)
    if mapping.isOfTheMachine { ended = refusal }
    return refusal
  }

  private mutating func rateRefusal(_ name: String) -> LineRefusal {
    if let known = rateRefusals[name] { return known }
    let refusal = LineRefusal.rateLimited(by: name)
    rateRefusals[name] = refusal
    return refusal
  }
}

extension LineEffect {
  fileprivate init(of receipt: BulkReceipt) {
    self = receipt.isCreation ? .created : receipt.isNew ? .changed : .repeated
  }
}
