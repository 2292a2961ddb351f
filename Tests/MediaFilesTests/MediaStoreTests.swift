import ChatPrimitives
import Foundation
import NIOCore
import Testing

@testable import MediaFiles

@Suite("The store of files")
struct MediaStoreTests {
  private let folder: TemporaryFolder
  private let store: MediaStore

  init() throws {
    folder = try TemporaryFolder()
    store = try MediaStore(
      directory: folder.media, settings: MediaStore.Settings(maximumBytes: 100, unreferencedSeconds: 86_400))
  }

  private var now: Int { Int(Date().timeIntervalSince1970) }
  private var unfinished: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: store.folder.incoming) }
  }

  private func keep(_ bytes: [UInt8]) async throws -> ContentHash {
    let file = try await store.receive(body([bytes]), of: anna)
    try await store.keep(file)
    return file.hash
  }

  private func read(_ hash: ContentHash, _ range: Range<Int>? = nil) async throws -> [UInt8]? {
    guard let file = try await store.open(hash) else { return nil }
    var bytes: [UInt8] = []
    try await file.read(range ?? 0..<file.size) { bytes += Array($0.readableBytesView) }
    return bytes
  }

  @Test("what comes in pieces is kept whole, under its hash")
  func pieces() async throws {
    let file = try await store.receive(body([[1, 2], [], [3], [UInt8](repeating: 4, count: 90)]), of: anna)
    #expect(file.size == 93)
    #expect(try await store.open(file.hash) == nil)
    try await store.keep(file)
    #expect(try await read(file.hash) == [1, 2, 3] + [UInt8](repeating: 4, count: 90))
    #expect(try await read(file.hash, 1..<4) == [2, 3, 4])
    #expect(try unfinished.isEmpty)
  }

  @Test("the limit is met at itself and passed one beyond", arguments: [(99, true), (100, true), (101, false)])
  func limit(size: Int, isTaken: Bool) async throws {
    let content = [UInt8](repeating: 1, count: size)
    if isTaken {
      let file = try await store.receive(body([content]), of: anna)
      #expect(file.size == size)
      await store.discard(file)
    } else {
      await #expect(throws: MediaError.tooLarge(limit: 100)) { try await store.receive(body([content]), of: anna) }
    }
    #expect(try unfinished.isEmpty)
  }

  @Test("an empty body is not a file")
  func empty() async throws {
    await #expect(throws: MediaError.empty) { try await store.receive(body([]), of: anna) }
    #expect(try unfinished.isEmpty)
  }

  @Test("a body that breaks off leaves nothing")
  func broken() async throws {
    struct Broken: Error {}
    let stream = AsyncThrowingStream<ByteBuffer, any Error> { continuation in
      continuation.yield(ByteBuffer(bytes: [1, 2, 3]))
      continuation.finish(throwing: Broken())
    }
    await #expect(throws: Broken.self) { try await store.receive(stream, of: anna) }
    #expect(try unfinished.isEmpty)
  }

  @Test("opening removes what a crash left unfinished, and nothing else")
  func reopening() async throws {
    let kept = try await keep([1])
    let unkept = try await store.receive(body([[2]]), of: anna)
    #expect(FileManager.default.fileExists(atPath: unkept.path))
    store.close()
    let again = try MediaStore(directory: folder.media, settings: store.settings)
    #expect(!FileManager.default.fileExists(atPath: unkept.path))
    #expect(again.folder.holds(kept))
    again.close()
  }

  @Test("what was cut off leaves nothing, though its task has been cancelled")
  func cutOff() async throws {
    let (pieces, more) = AsyncStream<ByteBuffer>.makeStream()
    let receiving = Task { [store] in try await store.receive(pieces, of: anna) }
    more.yield(ByteBuffer(bytes: [1, 2, 3]))
    while try unfinished.isEmpty { await Task.yield() }
    receiving.cancel()
    await #expect(throws: CancellationError.self) { try await receiving.value }
    #expect(try unfinished.isEmpty)
    let file = try await store.receive(body([[1]]), of: anna)
    let discarding = Task { [store] in
      while !Task.isCancelled { await Task.yield() }
      await store.discard(file)
    }
    discarding.cancel()
    await discarding.value
    #expect(try unfinished.isEmpty)
  }

  @Test("a user has few uploads in progress, and all together not many more")
  func slots() throws {
    var slots = UploadSlots()
    for _ in 0..<Limits.uploadsOfUser { try slots.enter(anna) }
    #expect(throws: MediaError.tooManyUploads) { try slots.enter(anna) }
    slots.leave(anna)
    try slots.enter(anna)
    for number in Limits.uploadsOfUser..<Limits.uploads { try slots.enter(user(UInt64(number))) }
    #expect(throws: MediaError.busy) { try slots.enter(user(999)) }
    #expect(throws: MediaError.tooManyUploads) { try slots.enter(anna) }
    slots.leave(anna)
    try slots.enter(user(999))
  }

  @Test("one content is removed at once if it is unused and nobody holds it")
  func removesOne() async throws {
    let content = try await keep([1])
    let hold = try await store.hold([content])
    #expect(try await !store.remove(content) { true })
    withExtendedLifetime(hold) {}
    #expect(try await !store.remove(sample(9)) { true })
    let (used, unused) = (try await keep([2]), try await keep([3]))
    #expect(try await !store.remove(used) { false })
    #expect(try await store.remove(unused) { true })
    #expect(store.folder.holds(content) && store.folder.holds(used) && !store.folder.holds(unused))
  }

  // MARK: Collecting

  @Test("what nothing refers to is removed once it is old enough, and what is referred to stays")
  func collects() async throws {
    let (used, unused) = (try await keep([1]), try await keep([2]))
    #expect(try await store.collect(now: now + 43_200) { $0 } == 0)
    #expect(try await store.collect(now: now + 172_800) { $0.subtracting([used]) } == 1)
    #expect(store.folder.holds(used) && !store.folder.holds(unused))
    #expect(try unfinished.isEmpty)
  }

  @Test("what is held is not removed, whether the hold began before the collection or during it")
  func holds() async throws {
    let (before, during) = (try await keep([1]), try await keep([2]))
    let first = try await store.hold([before])
    let second = Box<MediaHold>()
    let removed = try await store.collect(now: now + 172_800) { contents in
      if contents.contains(during) { second.value = try await store.hold([during]) }
      return contents
    }
    #expect(removed == 0)
    #expect(first.present == [before] && second.value?.present == [during])
    #expect(store.folder.holds(before) && store.folder.holds(during))
    withExtendedLifetime(first) {}
  }

  @Test("a hold that came and went during the collection saves the file too, and the next round takes it")
  func shortHold() async throws {
    let content = try await keep([1])
    let removed = try await store.collect(now: now + 172_800) { contents in
      _ = try await store.hold([content])
      return contents
    }
    #expect(removed == 0)
    #expect(try await store.collect(now: now + 172_800) { $0 } == 1)
  }

  @Test("a hold says what is there")
  func presence() async throws {
    let content = try await keep([1])
    #expect(try await store.hold([content, sample(9)]).present == [content])
  }

  @Test("a file that is being read when it is removed is read to its end")
  func readsRemoved() async throws {
    let content = try await keep([1, 2, 3])
    let file = try #require(try await store.open(content))
    #expect(try await store.collect(now: now + 172_800) { $0 } == 1)
    var bytes: [UInt8] = []
    try await file.read(0..<3) { bytes += Array($0.readableBytesView) }
    #expect(bytes == [1, 2, 3])
  }
}

/// A value that a closure writes. Only one task uses it at a time.
private final class Box<Value: Sendable>: @unchecked Sendable {
  // Every test here awaits the closure that writes the value before reading it.
  var value: Value?
}
