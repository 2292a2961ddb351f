import ChatPrimitives
import ChatProjections
import ChatProtocol
import NIOPosix
import Synchronization
import Testing

@testable import ChatServer

@Suite("how pages are encoded")
struct PageEncodingSpecs {
  /// A page of a list that records the thread on which it is encoded.
  private final class Page: ResponseObject {
    let thread = Mutex("")

    init() {}
    init(from decoder: any Decoder) throws {}

    func encode(to encoder: any Encoder) throws {
      let name = try ThreadName.current()
      thread.withLock { $0 = name }
    }

    static func == (left: Page, right: Page) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  @Test("a long page is encoded on a thread that serves no connections, a short one at once", arguments: [0, 1])
  func threads(more: Int) async throws {
    let page = Page()
    _ = try await JSONBody.page(of: Limits.inlineEncodingItems + more) { page }
    let pool = try await NIOThreadPool.singleton.runIfActive { try ThreadName.current() }
    #expect((page.thread.withLock { $0 } == pool) == (more > 0))
  }

  @Test(
    "what a text takes in a response is known before it is written",
    arguments: ["", "tea", "\u{1}\u{1f}", "\"\\\n\r\t\u{8}\u{c}", "차 ☕️", String(repeating: "\u{0}x", count: 500)])
  func lengths(text: String) throws {
    #expect(try JSONWriter.bytes(of: text).count == text.jsonBytes + 2)
  }
}
