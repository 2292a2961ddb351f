import ChatPrimitives
import ChatProtocol
import ChatService
import HTTPTypes
import Logging
import NIOCore

/// Lines that were queued together, and what is known of each already.
struct IngestPortion: Sendable {
  enum Fate: Sendable {
    /// It is one of the portion's commands, in their order.
    case queued
    case refused(any Error)
  }

  let lines: [(number: Int, fate: Fate)]
  let commands: BulkChunk
}

/// Turns portions into result lines, in order.
struct IngestResults {
  let logger: Logger
  /// Why the machine took nothing more; then every later line has the same result.
  private var ended: ProblemMapping?

  init(logger: Logger) {
    self.logger = logger
  }

  /// One result a line, as NDJSON, when every command of the portion is durable or refused.
  mutating func encoded(_ portion: IngestPortion) async throws -> [UInt8] {
    var outcomes = await portion.commands.results().makeIterator()
    var buffer = ByteBuffer()
    for (number, fate) in portion.lines {
      let result: Result<BulkReceipt, any Error>
      switch fate {
      case .refused(let error): result = .failure(error)
      case .queued: result = (outcomes.next() ?? .failure(.failed("a line without a result"))).mapError { $0 }
      }
      buffer.writeBytes(try JSONWriter.bytes(of: self.result(result, ofLine: number)))
      buffer.writeInteger(UInt8(ascii: "\n"))
    }
    // Kept until the client reads: as many bytes as there are, where a buffer may have twice as many.
    return Array(buffer.readableBytesView)
  }

  private mutating func result(_ result: Result<BulkReceipt, any Error>, ofLine line: Int) -> IngestResult {
    if let ended { return IngestResult(line: line, ended) }
    switch result {
    case .success(let receipt):
      return IngestResult(line: line, status: receipt.isNew ? 201 : 200, position: receipt.position)
    case .failure(let error):
      let mapping = ProblemMapping(error)
      if mapping.code == ProblemCode.internalError.rawValue {
        logger.error(
          "a line of an ingest failed", metadata: ["line": "\(line)", "error": "\(LoggedError.text(error))"])
      }
      if mapping.isOfTheMachine { ended = mapping }
      return IngestResult(line: line, mapping)
    }
  }
}

extension IngestResult {
  fileprivate init(line: Int, _ mapping: ProblemMapping) {
    self.init(line: line, status: mapping.status.code, code: mapping.code, detail: mapping.detail)
  }
}
