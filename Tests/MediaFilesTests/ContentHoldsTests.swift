import Testing

@testable import MediaFiles

/// The four ways in which a reference and a collection can meet.
@Suite("Holding a content, and watching it")
struct ContentHoldsTests {
  private let content = sample(1)
  private let other = sample(2)

  /// Functions for calls that the macros cannot make, because they change the value.
  private func watches(_ hash: ContentHash, _ holds: inout ContentHolds) -> Bool { holds.watch(hash) }
  private func endsWatch(_ hash: ContentHash, _ holds: inout ContentHolds) -> Bool { holds.endWatch(hash) }

  @Test("a content that nobody holds is removed")
  func undisturbed() {
    var holds = ContentHolds()
    holds.hold(content)
    holds.release(content)
    #expect(watches(content, &holds))
    #expect(endsWatch(content, &holds))
  }

  @Test("a content that is held is not watched, however many held it before")
  func held() {
    var holds = ContentHolds()
    holds.hold(content)
    holds.hold(content)
    holds.release(content)
    #expect(!watches(content, &holds))
    #expect(watches(other, &holds))
    holds.release(content)
    #expect(watches(content, &holds))
  }

  @Test("a hold during the watch breaks it, also one that ended before the watch", arguments: [true, false])
  func broken(releases: Bool) {
    var holds = ContentHolds()
    #expect(watches(content, &holds))
    #expect(watches(other, &holds))
    holds.hold(content)
    if releases { holds.release(content) }
    #expect(!endsWatch(content, &holds))
    #expect(endsWatch(other, &holds))
  }

  @Test("a watch ends once")
  func once() {
    var holds = ContentHolds()
    #expect(watches(content, &holds))
    #expect(endsWatch(content, &holds))
    #expect(!endsWatch(content, &holds))
  }
}
