import ChatPrimitives
import Testing

@testable import ChatServer

@Suite("When an issuer's keys are fetched") struct KeySetFreshnessTests {
  private func at(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: 1_800_000_000_000 + seconds * 1000) }

  @Test("at first, and again after a failure, but not at once")
  func first() {
    var freshness = KeySetFreshness()
    #expect(freshness.advice(hasKey: false, at: at(0)) == .fetch)
    freshness.noteFailed(at: at(0))
    #expect(freshness.advice(hasKey: false, at: at(9)) == .wait)
    #expect(freshness.advice(hasKey: false, at: at(10)) == .fetch)
  }

  @Test(
    "when they are older than their issuer says, within bounds",
    arguments: [(nil, 3600), (0, 60), (59, 60), (61, 61), (86_400, 86_400), (86_401, 86_400), (.max, 86_400), (-1, 60)]
      as [(Int64?, Int64)])
  func age(maximumAge: Int64?, seconds: Int64) {
    var freshness = KeySetFreshness()
    freshness.noteFetched(at: at(0), maximumAge: maximumAge)
    #expect(freshness.advice(hasKey: true, at: at(seconds - 1)) == .use)
    #expect(freshness.advice(hasKey: true, at: at(seconds)) == .fetch)
  }

  @Test("for a key that is not there, once a minute at most")
  func unknownKey() {
    var freshness = KeySetFreshness()
    freshness.noteFetched(at: at(0), maximumAge: 3600)
    #expect(freshness.advice(hasKey: false, at: at(59)) == .use)
    #expect(freshness.advice(hasKey: false, at: at(60)) == .fetch)
    freshness.noteFetched(at: at(60), maximumAge: 3600)
    #expect(freshness.advice(hasKey: false, at: at(119)) == .use)
    #expect(freshness.advice(hasKey: false, at: at(120)) == .fetch)
  }

  @Test("while the issuer does not respond, the known keys stay valid for a day")
  func stale() {
    var freshness = KeySetFreshness()
    freshness.noteFetched(at: at(0), maximumAge: 60)
    freshness.noteFailed(at: at(61))
    #expect(freshness.advice(hasKey: true, at: at(62)) == .use)
    #expect(freshness.advice(hasKey: true, at: at(71)) == .fetch)
    let day: Int64 = 86_400
    freshness.noteFailed(at: at(60 + day - 1))
    #expect(freshness.advice(hasKey: true, at: at(60 + day - 1)) == .use)
    #expect(freshness.advice(hasKey: true, at: at(60 + day)) == .wait)
  }

  @Test("Cache-Control says how long")
  func cacheControl() {
    let cases: [([Substring], Int64?)] = [
      ([], nil), (["public", "max-age=600"], 600), (["max-age = 600"], 600), (["no-store", "max-age=600"], 0),
      (["no-cache"], 0), (["max-age=x"], nil), (["Max-Age=\"5\""], 5),
    ]
    for (directives, age) in cases { #expect(KeySetFetcher.maximumAge(in: directives) == age, "\(directives)") }
  }

  @Test("keys come over https, or from this machine")
  func locations() {
    #expect(KeyLocation("https://id.example.org/keys") == .url("https://id.example.org/keys"))
    for local in ["http://127.0.0.1:1/k", "http://localhost/k", "http://[::1]:2/k"] {
      #expect(KeyLocation(local) == .url(local))
    }
    #expect(KeyLocation("/etc/keys.json") == .file("/etc/keys.json"))
    for wrong in ["", "http://id.example.org/keys", "ftp://127.0.0.1/k", "https://", "http://127.0.0.1.example.org/k"] {
      #expect(KeyLocation(wrong) == nil, "\(wrong)")
    }
  }
}
