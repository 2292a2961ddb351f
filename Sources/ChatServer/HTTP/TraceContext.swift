import HTTPTypes

/// The trace that a request belongs to: the `traceparent` of W3C Trace Context (https://www.w3.org/TR/trace-context/).
struct TraceContext: Sendable, Hashable {
  /// The trace of the request that the current task handles; nil if it has none.
  @TaskLocal static var current: TraceContext?

  /// 32 hexadecimal digits.
  let traceID: String
  /// The client's span: 16 hexadecimal digits.
  let parentSpanID: String
  /// The span of this request: 16 hexadecimal digits.
  let spanID: String
  /// Whether the client records the trace.
  let isSampled: Bool

  /// Later versions may add fields, up to this length of the whole field in bytes.
  private static let maximumBytes = 256
  private static let versionBytes = 2
  private static let traceBytes = 32
  private static let parentBytes = 16
  private static let flagBytes = 2
  private static let sampledFlag: UInt8 = 1

  /// - Returns: nil if there is no such field, more than one, or one that is malformed, which the standard says to ignore.
  init?(_ headers: HTTPFields) {
    guard let text = headers[.traceparent] else { return nil }
    // Several fields were joined by commas, which are not part of the format.
    self.init(text, spanID: UInt64.random(in: 1 ... .max))
  }

  init?(_ text: String, spanID: UInt64) {
    guard text.utf8.count <= Self.maximumBytes else { return nil }
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 4,
      let version = Self.hexadecimal(parts[0], Self.versionBytes), version != "ff",
      version != "00" || parts.count == 4,
      let trace = Self.hexadecimal(parts[1], Self.traceBytes), trace.contains(where: { $0 != "0" }),
      let parent = Self.hexadecimal(parts[2], Self.parentBytes), parent.contains(where: { $0 != "0" }),
      let flags = Self.hexadecimal(parts[3], Self.flagBytes), let bits = UInt8(flags, radix: 16)
    else { return nil }
    traceID = trace
    parentSpanID = parent
    let digits = String(spanID, radix: 16)
    self.spanID = String(repeating: "0", count: Self.parentBytes - digits.count) + digits
    isSampled = bits & Self.sampledFlag != 0
  }

  private static func hexadecimal(_ text: Substring, _ count: Int) -> String? {
    let isHexadecimal = text.utf8.allSatisfy { byte in
      ("0"..."9").contains(Unicode.Scalar(byte)) || ("a"..."f").contains(Unicode.Scalar(byte))
    }
    return text.utf8.count == count && isHexadecimal ? String(text) : nil
  }

  /// The field of a request that the server makes for this one.
  var traceparent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }
}
