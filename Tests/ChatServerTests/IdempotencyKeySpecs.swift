import ChatPrimitives
import Testing

@testable import ChatServer

/// The IDs of commands that a client identifies by a key.
@Suite struct IdempotencyKeySpecs {
  private let uuid = "018f2f4e-6b5a-7c31-9f0e-3d1f5a7b9c01"

  @Test("a UUID is its own ID, in upper and lower case")
  func uuids() {
    #expect(CommandID(key: uuid)?.description == uuid)
    #expect(CommandID(key: uuid.uppercased())?.description == uuid)
  }

  @Test(
    "any other key gets the first 16 bytes of its SHA-256",
    arguments: [
      ("tea", "a9f74d1e-c36e-bdeb-2da3-f6e5868090cd"),
      ("00000000-0000-0000-0000-000000000000", "12b9377c-be7e-5c94-e8a7-0d9d23929523"),
    ])
  func texts(key: String, id: String) {
    #expect(CommandID(key: key)?.description == id)
  }

  @Test("a key has 1 to 255 characters of printable ASCII")
  func limits() {
    for count in [1, 254, 255] { #expect(CommandID(key: String(repeating: "~", count: count)) != nil) }
    for key in ["", String(repeating: "~", count: 256), "a\tb", "a\u{7f}", "é"] { #expect(CommandID(key: key) == nil) }
  }
}
