import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import Foundation
import MediaFiles
import NIOCore
import Testing

@Suite("Uploads, and what refers to them")
struct MediaServiceTests {
  /// Makes every file look as if it had been uploaded a year ago.
  private func age(_ fixture: ServiceFixture) throws {
    let media = fixture.directory + "/media"
    let year = Date(timeIntervalSinceNow: -365 * 86_400)
    for path in try FileManager.default.subpathsOfDirectory(atPath: media) {
      try FileManager.default.setAttributes([.modificationDate: year], ofItemAtPath: media + "/" + path)
    }
  }

  @Test("a repeat has the ID, the name and the position of the first time, after a restart too")
  func repeats() async throws {
    let fixture = try await ServiceFixture(keepsDirectory: true)
    let alice = try await fixture.user(1)
    let first = try await fixture.upload([1, 2, 3], by: alice, name: "a")
    #expect(first.isNew)
    let second = try await fixture.upload([1, 2, 3], by: alice, name: "b")
    #expect(!second.isNew && second.row == first.row)
    try fixture.close()
    let again = try await ServiceFixture(directory: fixture.directory)
    let third = try await again.upload([1, 2, 3], by: alice)
    #expect(!third.isNew && third.row == first.row)
    try again.close()
  }

  @Test("an ID that was used as a client's key before is no obstacle")
  func takenKey() async throws {
    let fixture = try await ServiceFixture()
    let alice = try await fixture.user(1)
    let probe = try await fixture.upload([9], by: alice)
    let id = fixture.chat.mediaID(of: [UInt8](repeating: 5, count: 32), by: alice)
    #expect(id != probe.row.id && id == fixture.chat.mediaID(of: [UInt8](repeating: 5, count: 32), by: alice))
    // SHA-256 of the single byte 0.
    let hash = try #require(hexadecimal("6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"))
    let taken = fixture.chat.mediaID(of: hash, by: alice)
    _ = try await fixture.chat.setDevice(
      fixed(50), DeviceDescription(name: "phone", type: nil, osVersion: nil, tokens: []), by: Principal(user: alice),
      command: CommandID(taken.uuid))
    let upload = try await fixture.upload([0], by: alice, name: "zero")
    #expect(upload.isNew && upload.row.id == taken)
    let (row, file) = try await fixture.chat.media(taken, for: alice)
    #expect(row.name == "zero" && file.size == 1)
    try fixture.close()
  }

  /// The number of files in the media directory, including unfinished uploads.
  private func files(_ fixture: ServiceFixture) throws -> Int {
    let media = fixture.directory + "/media"
    return try FileManager.default.subpathsOfDirectory(atPath: media).count { path in
      var isDirectory: ObjCBool = false
      return FileManager.default.fileExists(atPath: media + "/" + path, isDirectory: &isDirectory)
        && !isDirectory.boolValue
    }
  }

  /// Waits for the next day if it begins in less than a minute, so that a test does not span two days.
  private func awayFromMidnight() async throws {
    let left = UsageDay(of: ChatService.now()).secondsLeft(at: ChatService.now())
    if left < 60 { try await Task.sleep(for: .seconds(left)) }
  }

  @Test("a refused upload leaves no file, and a repeat succeeds even if the quota is used up")
  func refusedUploads() async throws {
    try await awayFromMidnight()
    let fixture = try await ServiceFixture(quotas: Quotas(mediaBytesPerDay: 10))
    let (alice, bob) = (try await fixture.user(1), try await fixture.user(2))
    let first = try await fixture.upload([1, 1, 1, 1, 1, 1], by: alice)
    #expect(try files(fixture) == 1)
    #expect(await rejection { _ = try await fixture.upload([2, 2, 2, 2, 2], by: alice) } == .quotaExceeded)
    #expect(await rejection { _ = try await fixture.upload([3], by: bob, name: "a/b") } == .mediaNameMalformed)
    _ = try await fixture.chat.disable(bob, by: Principal(service: ServiceFixture.service), command: nil)
    #expect(await rejection { _ = try await fixture.upload([4], by: bob) } == .accountDisabled)
    #expect(try files(fixture) == 1)
    #expect(try await fixture.upload([1, 1, 1, 1, 1, 1], by: alice).row == first.row)
    #expect(try await fixture.upload([5, 5, 5, 5], by: alice).isNew)
    #expect(try await fixture.upload([1, 1, 1, 1, 1, 1], by: alice).row == first.row)
    #expect(try files(fixture) == 2)
    try fixture.close()
  }

  @Test("uploads at once, of which the quota allows one, leave one file")
  func refusedAtOnce() async throws {
    try await awayFromMidnight()
    let fixture = try await ServiceFixture(quotas: Quotas(mediaBytesPerDay: 10))
    let alice = try await fixture.user(1)
    let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<UInt8(Limits.uploadsOfUser) {
        group.addTask {
          await rejection { _ = try await fixture.upload([UInt8](repeating: number, count: 10), by: alice) } == nil
        }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(taken == 1)
    #expect(try files(fixture) == 1)
    try fixture.close()
  }

  @Test("an upload is refused before its body is sent, unless it may be a repeat")
  func checks() async throws {
    try await awayFromMidnight()
    let fixture = try await ServiceFixture(quotas: Quotas(mediaBytesPerDay: 10))
    let alice = try await fixture.user(1)
    let asAlice = Principal(user: alice)
    func refused(_ bytes: Int?, _ principal: Principal, name: String? = nil) async -> Rejection? {
      await rejection { try await fixture.chat.checkUpload(bytes: bytes, name: name, by: principal) }
    }
    _ = try await fixture.upload([1, 1, 1, 1, 1, 1], by: alice)
    #expect(await refused(4, asAlice) == nil)
    #expect(await refused(5, asAlice) == .quotaExceeded)
    #expect(await refused(6, asAlice) == nil)
    #expect(await refused(nil, asAlice) == nil)
    #expect(await refused(7, Principal(user: alice, service: ServiceFixture.service)) == nil)
    #expect(await refused(1, asAlice, name: "a/b") == .mediaNameMalformed)
    _ = try await fixture.chat.disable(alice, by: Principal(service: ServiceFixture.service), command: nil)
    #expect(await refused(1, asAlice) == .accountDisabled)
    try fixture.close()
  }

  private func hexadecimal(_ text: String) -> [UInt8]? {
    let bytes = stride(from: 0, to: text.count, by: 2).compactMap { offset in
      UInt8(text.dropFirst(offset).prefix(2), radix: 16)
    }
    return bytes.count == 32 ? bytes : nil
  }

  @Test("what is held while a command is in progress is not collected; what nothing refers to is")
  func holds() async throws {
    let fixture = try await ServiceFixture()
    let (alice, bob) = (try await fixture.user(1), try await fixture.user(2))
    let (held, other) = (try await fixture.upload([1], by: alice), try await fixture.upload([2], by: alice))
    try age(fixture)
    #expect(try await fixture.chat.heldMedia([held.row.id], for: bob) == nil)
    let hold = try #require(try await fixture.chat.heldMedia([held.row.id], for: alice))
    #expect(hold.known == [held.row.id: held.row.content])
    #expect(try await fixture.chat.collectMedia() == 1)
    #expect(try await fixture.chat.heldMedia([other.row.id], for: alice) == nil)
    #expect(try await fixture.chat.heldMedia([held.row.id, other.row.id], for: alice) == nil)
    _ = try await fixture.chat.media(held.row.id, for: alice)
    withExtendedLifetime(hold.hold) {}
    try fixture.close()
  }

  @Test("a file that only reports keep, and that is so old that it would be collected, exists only for services")
  func evidence() async throws {
    let fixture = try await ServiceFixture()
    let (alice, bob) = (try await fixture.user(1), try await fixture.user(2))
    let (room, message): (RoomID, MessageID) = (fixed(10), fixed(100))
    let asAlice = Principal(user: alice)
    let cat = try await fixture.upload([1], by: alice).row.id
    let creation = RoomCreation(kind: .group, name: "tea", creator: alice)
    for command: RoomCommand in [.lifecycle(.create(creation)), .members(.add(bob))] {
      _ = try await fixture.chat.performRoom(room, command, by: asAlice)
    }
    let request = try fixture.chat.send(
      NewMessage(text: "", attachments: [NewMessage.AttachedMedia(media: cat, name: nil)]), as: message, to: room,
      by: asAlice)
    _ = try await fixture.chat.perform(try await fixture.chat.withMedia(request))
    _ = try await fixture.chat.performRoom(
      room, .reports(.file(fixed(200), NewReport(.message(message), reason: .hate))), by: Principal(user: bob))
    try age(fixture)
    _ = try await fixture.chat.media(cat, for: alice)
    _ = try await fixture.chat.performRoom(room, .messages(.delete(message)), by: asAlice)
    #expect(try await fixture.chat.collectMedia() == 0)
    #expect(await rejection { _ = try await fixture.chat.media(cat, for: alice) } == .mediaNotFound)
    #expect(try await fixture.chat.heldMedia([cat], for: alice) == nil)
    _ = try await fixture.chat.media(cat, for: nil)
    #expect(try await fixture.chat.heldMedia([cat], for: nil) != nil)
    // A new upload counts as new, as after a collection.
    #expect(try await fixture.upload([1], by: alice).row.id == cat)
    _ = try await fixture.chat.media(cat, for: alice)
    try fixture.close()
  }

  @Test("a picture keeps its file, and messages that are sent while files are collected never lose theirs")
  func racing() async throws {
    let fixture = try await ServiceFixture()
    let alice = try await fixture.user(1)
    let room: RoomID = fixed(10)
    let asAlice = Principal(user: alice)
    _ = try await fixture.chat.performRoom(
      room, .lifecycle(.create(RoomCreation(kind: .group, name: "tea", creator: alice))), by: asAlice)
    var media: [MediaID] = []
    for number in 0..<60 { media.append(try await fixture.upload([1, UInt8(number)], by: alice).row.id) }
    try age(fixture)
    let collecting = Task {
      var count = 0
      while !Task.isCancelled { count += try await fixture.chat.collectMedia() }
      return count
    }
    var sent: [MediaID] = []
    for (number, id) in media.enumerated() {
      let request = try fixture.chat.send(
        NewMessage(text: "", attachments: [NewMessage.AttachedMedia(media: id, name: nil)]),
        as: fixed(100 + UInt64(number)), to: room, by: asAlice)
      let refused = await rejection {
        _ = try await fixture.chat.perform(try await fixture.chat.withMedia(request))
      }
      #expect(refused == nil || refused == .mediaNotFound)
      if refused == nil { sent.append(id) }
    }
    collecting.cancel()
    let removed = (try? await collecting.value) ?? 0
    _ = try await fixture.chat.collectMedia()
    // Whichever side won each race, a message that was sent has its file.
    for id in sent { _ = try await fixture.chat.media(id, for: alice) }
    #expect(removed <= media.count - sent.count)
    try fixture.close()
  }
}
