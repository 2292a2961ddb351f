import HTTPTypes
import Testing

@testable import ChatServer

@Suite("Parts of a file, and what it is known by")
struct MediaHeaderTests {
  @Test(
    "one range of bytes is served as far as there are bytes",
    arguments: [
      ("bytes=0-0", 0..<1), ("bytes=0-", 0..<10), ("bytes=9-9", 9..<10), ("bytes=9-", 9..<10), ("bytes=3-5", 3..<6),
      ("bytes=-1", 9..<10), ("bytes=-10", 0..<10), ("bytes=-11", 0..<10), ("bytes=5-10", 5..<10), ("BYTES=0-0", 0..<1),
      ("bytes=0-99999999999999999999", 0..<10), ("bytes=0-9223372036854775807", 0..<10),
      ("bytes=-99999999999999999999", 0..<10),
    ])
  func parts(header: String, range: Range<Int>) {
    #expect(ByteRange(header, size: 10) == .part(range))
  }

  @Test(
    "what begins beyond the end cannot be served",
    arguments: ["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999999-"])
  func unsatisfiable(header: String) {
    #expect(ByteRange(header, size: 10) == .unsatisfiable)
  }

  @Test(
    "anything else gets the whole",
    arguments: [
      nil, "", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-4", "bytes=0-1,3-4", "lines=0-1", "bytes=+1-2",
      "bytes=0-1-2", "bytes= 0-1",
    ])
  func whole(header: String?) {
    #expect(ByteRange(header, size: 10) == .whole)
  }

  @Test("an If-None-Match is compared weakly, an If-Range strongly")
  func tags() {
    let strong = EntityTag.strong("ab")
    let weak = EntityTag.weak("ab")
    for header in ["\"ab\"", "W/\"ab\"", "*", " * ", "\"x\", \"ab\"", "\"x\",W/\"ab\""] {
      #expect(strong.isNamed(in: header) && weak.isNamed(in: header), "\(header)")
    }
    for header in [nil, "", "ab", "\"abc\"", "\"ab", "**x"] as [String?] {
      #expect(!strong.isNamed(in: header), "\(header ?? "none")")
    }
    #expect(strong.admitsRange(nil) && strong.admitsRange("\"ab\""))
    for header in ["W/\"ab\"", "\"x\"", "Wed, 21 Oct 2015 07:28:00 GMT", "\"ab\", \"x\""] {
      #expect(!strong.admitsRange(header), "\(header)")
    }
    #expect(!weak.admitsRange("W/\"ab\"") && weak.header == "W/\"ab\"" && strong.header == "\"ab\"")
  }

  @Test("active content is an attachment, and a file name is encoded")
  func disposition() {
    #expect(MediaHeaders.disposition(of: "image/png", name: nil) == "inline")
    for type in ["application/pdf", "application/zip", "application/octet-stream", "text/html", "image"] {
      #expect(MediaHeaders.disposition(of: type, name: nil) == "attachment")
    }
    #expect(
      MediaHeaders.disposition(of: "video/mp4", name: "a\"b\u{CC28}.x") == "inline; filename*=UTF-8''a%22b%EC%B0%A8.x")
  }
}
