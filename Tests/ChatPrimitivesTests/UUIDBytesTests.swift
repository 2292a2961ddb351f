import ChatPrimitives
import Testing

@Suite("UUIDs")
struct UUIDBytesTests {
  private let bytes: [UInt8] = [
    0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10,
  ]

  @Test(
    "are read in any case and written in lower case",
    arguments: [
      "01234567-89ab-cdef-fedc-ba9876543210", "01234567-89AB-CDEF-FEDC-BA9876543210",
      "01234567-89aB-CdeF-FEdc-bA9876543210",
    ])
  func anyCase(text: String) throws {
    let uuid = try #require(UUIDBytes(text: text))
    #expect(uuid == UUIDBytes(high: 0x0123_4567_89ab_cdef, low: 0xfedc_ba98_7654_3210))
    #expect(uuid.text == "01234567-89ab-cdef-fedc-ba9876543210")
    #expect(uuid.bytes == bytes)
    #expect(UUIDBytes(bytes: bytes) == uuid)
    #expect(UUIDBytes(text: text[...]) == uuid)
  }

  @Test(
    "have one form only",
    arguments: [
      "", "-", "0", "0123456789abcdeffedcba9876543210", "{01234567-89ab-cdef-fedc-ba9876543210}",
      "01234567-89ab-cdef-fedc-ba987654321", "01234567-89ab-cdef-fedc-ba98765432100",
      "01234567-89ab-cdef-fedc-ba9876543210-", "01234567-89ab-cdef-fedc-ba987654321g",
      "0123456-789ab-cdef-fedc-ba9876543210", "01234567089ab-cdef-fedc-ba9876543210",
      "01234567-89ab-cdef-fedc-ba98765432-0", "--------------------------------------",
      " 1234567-89ab-cdef-fedc-ba9876543210", "01234567-89ab-cdef-fedc-ba987654321\n",
      "urn:uuid:01234567-89ab-cdef-fedc-ba9876543210", "٠١٢٣٤٥٦٧-89ab-cdef-fedc-ba9876543210",
      "01234567-89ab-cdef-fedc-ba98765432\u{0}0", "01234567-89ab-cdef-fedc-ba98765432é",
    ])
  func badForms(text: String) {
    #expect(UUIDBytes(text: text) == nil)
  }

  @Test("have sixteen bytes", arguments: [0, 15, 17])
  func badLengths(count: Int) {
    #expect(UUIDBytes(bytes: [UInt8](repeating: 1, count: count)) == nil)
  }

  @Test("keep every bit, in text and in bytes")
  func everyBit() {
    for bit in 0..<128 {
      let uuid =
        bit < 64 ? UUIDBytes(high: 1 << UInt64(bit), low: 0) : UUIDBytes(high: 0, low: 1 << UInt64(bit - 64))
      #expect(UUIDBytes(text: uuid.text) == uuid)
      #expect(UUIDBytes(text: uuid.text.uppercased()) == uuid)
      #expect(UUIDBytes(bytes: uuid.bytes) == uuid)
    }
  }

  @Test("are ordered as their bytes are, and as their texts are")
  func order() {
    let ordered = [
      UUIDBytes.zero, UUIDBytes(high: 0, low: 1), UUIDBytes(high: 0, low: .max), UUIDBytes(high: 1, low: 0),
      UUIDBytes(high: 1 << 63, low: 0), UUIDBytes(high: .max, low: .max),
    ]
    #expect(ordered.shuffled().sorted() == ordered)
    #expect(ordered.map(\.text).shuffled().sorted() == ordered.map(\.text))
  }
}
