import ChatPrimitives
import ChatProtocol
import NIOCore

/// The results of an ingest that its client has not read yet.
///
/// They become text only when the client reads. Until then a result takes a few bytes, so a client may send a whole
/// body before it reads, and no client can make the server store much. A result is two or three variable-length
/// integers (RFC 9000, section 16): the distance from the previous line, the outcome, and for a line that succeeded the
/// distance from the previous position.
struct UnreadResults {
  /// A `LineEffect`, or a refusal: the index in `refusals`, plus this number.
  private static let refusedMark = UInt64(LineEffect.allCases.count)

  private var packed = ByteBuffer()
  private var written = Cursor()
  private var read = Cursor()
  /// The JSON that follows `line`, for each refusal among the unread results.
  private var refusals: [[UInt8]] = []
  private var marks: [LineRefusal: UInt64] = [:]
  private var refusalBytes = 0

  private struct Cursor {
    var line: UInt64 = 0
    var position: UInt64 = 0
  }

  init() {}

  /// The memory that they take, in bytes.
  var byteCount: Int { packed.capacity + refusalBytes }

  var isEmpty: Bool { packed.readableBytes == 0 }

  /// - Parameter line: greater than that of every result before.
  mutating func append(_ line: Int, _ result: LineResult) throws {
    if isEmpty { forgetRefusals() }
    let line = UInt64(clamping: line)
    pack(line - written.line)
    written.line = line
    switch result {
    case .done(let effect, let position):
      pack(effect.rawValue)
      pack(Self.unsigned(Int64(bitPattern: position.value &- written.position)))
      written.position = position.value
    case .refused(let refusal):
      pack(try mark(refusal))
    }
  }

  /// The oldest results as NDJSON, until the text has at least this many bytes; nil if there are none.
  mutating func text(upTo bytes: Int) -> ByteBuffer? {
    guard !isEmpty else { return nil }
    var text = ByteBuffer()
    while text.readableBytes < bytes, let further = unpack(), let mark = unpack() {
      read.line += further
      text.writeString("{\"line\":\(read.line)")
      if let effect = LineEffect(rawValue: mark) {
        read.position = read.position &+ UInt64(bitPattern: Self.signed(unpack() ?? 0))
        let end = effect == .repeated ? ",\"replayed\":true}\n" : "}\n"
        text.writeString(",\"status\":\(effect.status),\"position\":\(read.position)\(end)")
      } else {
        text.writeBytes(refusals[Int(mark - Self.refusedMark)])
      }
    }
    // The remaining bytes are moved only if they are the smaller part, which keeps the cost of all reads linear.
    if isEmpty {
      packed = ByteBuffer()
    } else if packed.readerIndex > packed.readableBytes {
      packed.discardReadBytes()
    }
    return text
  }

  private mutating func mark(_ refusal: LineRefusal) throws -> UInt64 {
    if let mark = marks[refusal] { return mark }
    var refusal = refusal
    if refusalBytes + refusal.detail.utf8.count > Limits.ingestRefusalBytes {
      refusal = refusal.withoutDetail
      if let mark = marks[refusal] { return mark }
    }
    let end = try Self.end(of: refusal)
    let mark = Self.refusedMark + UInt64(refusals.count)
    refusals.append(end)
    marks[refusal] = mark
    refusalBytes += refusal.detail.utf8.count
    return mark
  }

  private mutating func forgetRefusals() {
    guard !refusals.isEmpty else { return }
    refusals = []
    marks = [:]
    refusalBytes = 0
  }

  private static func end(of refusal: LineRefusal) throws -> [UInt8] {
    let status = Array(",\"status\":\(refusal.status),\"code\":\"\(refusal.code)\",\"detail\":".utf8)
    return status + (try JSONWriter.bytes(of: refusal.detail)) + Array("}\n".utf8)
  }

  // MARK: Numbers

  private mutating func pack(_ number: UInt64) {
    packed.writeEncodedInteger(number, strategy: .quic)
  }

  private mutating func unpack() -> UInt64? {
    packed.readEncodedInteger(as: UInt64.self, strategy: .quic)
  }

  /// Zigzag encoding: small numbers of either sign become small unsigned ones.
  private static func unsigned(_ number: Int64) -> UInt64 { UInt64(bitPattern: (number << 1) ^ (number >> 63)) }

  private static func signed(_ number: UInt64) -> Int64 {
    Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
  }
}
