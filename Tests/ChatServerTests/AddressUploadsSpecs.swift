import ChatPrimitives
import Testing

@testable import ChatServer

@Suite("Uploads of one address")
struct AddressUploadsSpecs {
  private func network(_ text: String) throws -> NetworkAddress { try #require(NetworkAddress(text)).network }

  @Test("an address has so many places, a place is free again when it is released, and others have their own")
  func limit() throws {
    let uploads = AddressUploads()
    let (one, other) = (try network("127.0.0.1"), try network("127.0.0.2"))
    var places: [AddressUploads.Place] = []
    for _ in 0..<Limits.uploadsOfAddress { places.append(try uploads.enter(one)) }
    #expect(throws: Refusal.tooManyUploadsOfAddress) { try uploads.enter(one) }
    _ = try uploads.enter(other)
    places.removeLast()
    places.append(try uploads.enter(one))
    #expect(throws: Refusal.tooManyUploadsOfAddress) { try uploads.enter(one) }
    places.removeAll()
    places.append(try uploads.enter(one))
  }

  @Test("a /64 of version 6 counts as one address")
  func version6() throws {
    let uploads = AddressUploads()
    var places: [AddressUploads.Place] = []
    for number in 0..<Limits.uploadsOfAddress {
      places.append(try uploads.enter(try network("2001:db8::\(number + 1)")))
    }
    #expect(throws: Refusal.tooManyUploadsOfAddress) { try uploads.enter(network("2001:db8::ffff")) }
    _ = try uploads.enter(try network("2001:db8:0:1::1"))
    #expect(places.count == Limits.uploadsOfAddress)
  }
}
