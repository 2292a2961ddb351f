import HTTPTypes
import Testing

@testable import ChatServer

@Suite("W3C trace context")
struct TraceContextSpecs {
  private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
  private static let parent = "00f067aa0ba902b7"
  private static let valid = "00-\(trace)-\(parent)-01"

  @Test("the trace goes on with a part of its own")
  func continues() throws {
    let context = try #require(TraceContext(Self.valid, spanID: 0xab))
    #expect(context.traceID == Self.trace && context.parentSpanID == Self.parent && context.isSampled)
    #expect(context.traceparent == "00-\(Self.trace)-00000000000000ab-01")
  }

  @Test(
    "flags other than `sampled` are not passed on, and fields of later versions are ignored",
    arguments: [("00", "00", "00"), ("00", "ff", "01"), ("00", "fe", "00"), ("cc", "01-more-fields", "01")])
  func flags(version: String, flags: String, passedOn: String) throws {
    let context = try #require(TraceContext("\(version)-\(Self.trace)-\(Self.parent)-\(flags)", spanID: .max))
    #expect(context.traceparent == "00-\(Self.trace)-ffffffffffffffff-\(passedOn)")
  }

  @Test(
    "a malformed field is ignored",
    arguments: [
      "", "00", "-", valid.uppercased(), valid + "-", valid + "-more", "ff-\(trace)-\(parent)-01",
      "0-\(trace)-\(parent)-01", "00-\(trace)-\(parent)", "00-\(trace)-\(parent)-1", "00-\(trace)-\(parent)-0g",
      "00-\(trace.dropLast())-\(parent)-01", "00-\(trace)0-\(parent)-01", "00-\(trace)-\(parent)0-01",
      "00-00000000000000000000000000000000-\(parent)-01", "00-\(trace)-0000000000000000-01", " " + valid,
      "00-\(trace)-\(parent)-+1", valid + ", " + valid,
      "cc-\(trace)-\(parent)-01-" + String(repeating: "x", count: 250),
    ])
  func malformed(text: String) {
    #expect(TraceContext(text, spanID: 1) == nil)
  }

  @Test("two fields are ignored")
  func twice() {
    var headers: HTTPFields = [.traceparent: Self.valid]
    #expect(TraceContext(headers) != nil)
    headers.append(HTTPField(name: .traceparent, value: Self.valid))
    #expect(TraceContext(headers) == nil)
    #expect(TraceContext(HTTPFields()) == nil)
  }
}
