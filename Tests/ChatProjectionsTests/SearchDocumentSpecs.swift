import ChatDomain
import ChatPrimitives
import Testing

@testable import ChatProjections

@Suite("Documents for the full-text index")
struct SearchDocumentSpecs {
  @Test(
    "a document begins with the labels for which a search looks",
    arguments: [1, 35, 36, 1_295, 1_296, 123_456_789, Int64.max])
  func labels(room: Int64) throws {
    for sender in [UserID.numbered(0), .numbered(35), .numbered(0xff_ffff_ffff)] {
      var document = SearchDocument()
      document.set(
        IndexedText(
          position: LogPosition(1), room: room, location: .room(1), sender: sender, sentAt: .latest, hasMedia: true,
          type: TypeHash(nil), nameBytes: 0, text: Array("tea".utf8), extra: []))
      let labels = [
        SearchDocument.label(room: room), SearchDocument.label(sender: sender), SearchDocument.mediaLabel,
      ]
      #expect(String(decoding: document.bytes, as: UTF8.self) == labels.joined(separator: " ") + "\ntea")
    }
    #expect(SearchDocument.label(room: room) == "#r" + String(room, radix: 36))
  }

  @Test("a label ends with a number in base 36")
  func numbers() {
    #expect(SearchDocument.label(room: 1_295) == "#rzz" && SearchDocument.label(room: 0) == "#r0")
    // Forty bits of the ID.
    #expect(SearchDocument.label(sender: .numbered(0xabc_ffff_ffff_ffff)) == "#s" + String(0xff_ffff_ffff, radix: 36))
    #expect(SearchDocument.label(type: TypeHash("order")).hasPrefix("#t"))
  }
}
