import Testing

@testable import ChatServer

@Suite("A limit for each key")
struct KeyedLimitSpecs {
  @Test("admits amounts up to the limit, of all reservations of the key together", arguments: [1, 2, 50])
  func limit(limit: Int) {
    let limited = KeyedLimit<String>(limit)
    let filled = (0..<limit).map { _ in limited.reserve(for: "anna") }
    #expect(!limited.admits(for: "anna"))
    #expect(limited.admits(limit, for: "ben"))
    #expect(!limited.admits(limit + 1, for: "ben"))
    #expect(filled.allSatisfy { $0 != nil })
  }

  @Test("takes a reservation back once: when it is released, or with its last reference")
  func release() throws {
    let limited = KeyedLimit<String>(2)
    let first = try #require(limited.reserve(for: "anna"))
    var second = limited.reserve(for: "anna")
    first.release()
    first.release()
    #expect(limited.admits(for: "anna") && !limited.admits(2, for: "anna"))
    #expect(second != nil)
    second = nil
    #expect(limited.admits(2, for: "anna"))
  }

  @Test("lets a reservation grow, and changes nothing when it would exceed the limit")
  func growth() {
    let limited = KeyedLimit<String>(10)
    let one = KeyedLimit.Reservation(for: "anna", in: limited)
    let other = KeyedLimit.Reservation(for: "anna", in: limited)
    #expect(one.add(6))
    #expect(other.add(3))
    #expect(!other.add(2))
    #expect(other.add(1))
    #expect(!one.add(1))
    one.release()
    #expect(other.add(6))
    #expect(!other.add(1))
  }

  @Test("keeps no key that holds nothing")
  func forgetting() {
    let limited = KeyedLimit<Int>(3)
    var held = (0..<100).map { limited.reserve(3, for: $0) }
    #expect(limited.keyCount == 100)
    held.removeLast(99)
    #expect(limited.keyCount == 1)
    held[0]?.release()
    #expect(limited.keyCount == 0)
  }
}

extension KeyedLimit {
  /// Whether this amount could be reserved for the key. The reservation is released at once.
  fileprivate func admits(_ amount: Int = 1, for key: Key) -> Bool { reserve(amount, for: key) != nil }
}
