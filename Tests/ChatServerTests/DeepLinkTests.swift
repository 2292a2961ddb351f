import Testing

@testable import ChatServer

@Suite("The deep link")
struct DeepLinkTests {
  @Test(
    "takes the token where the form says",
    arguments: [
      ("hansard://invite/{token}", "hansard://invite/abc-_9"),
      ("https://x.org/i/{token}?a=b", "https://x.org/i/abc-_9?a=b"),
      ("a+b.c-1:{token}", "a+b.c-1:abc-_9"),
    ])
  func links(form: String, link: String) throws {
    let deepLink = try #require(DeepLink(form))
    #expect(deepLink.link(for: "abc-_9") == link)
    #expect(deepLink.form == form)
  }

  @Test(
    "is refused without a scheme, without the token or with two, and with what no URI holds",
    arguments: [
      "", "{token}", "hansard://invite/", "hansard://invite/{token}/{token}", "invite/{token}", "1a://{token}",
      "://{token}", "{token}:x", "my app://{token}", "a://b c/{token}", "a://\u{e9}/{token}", "a\u{e9}://{token}",
      "a://<{token}>",
    ])
  func refuses(form: String) {
    #expect(DeepLink(form) == nil)
  }
}
