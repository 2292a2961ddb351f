package import ChatPrimitives
package import Foundation
import Glibc
package import NIOCore
import NIOPosix
import Synchronization

/// The uploaded files of one server: takes them in, hands them out, makes thumbnails, and removes what nobody refers to.
/// Knows contents by their hash alone; who may see what is not its business.
package final class MediaStore: Sendable {
  /// What the operator may set.
  package struct Settings: Sendable, Hashable {
    /// Of one upload.
    package var maximumBytes: Int
    /// What nothing refers to is removed when it was uploaded longer ago than this.
    package var unreferencedSeconds: Int
    /// Of all thumbnails on the disk.
    package var thumbnailCacheBytes: Int
    /// Where the programs are that look at images: directories, separated by colons.
    package var programPath: String

    package static let defaultUnreferencedSeconds = 24 * 60 * 60

    package init(
      maximumBytes: Int = Limits.mediaBytes, unreferencedSeconds: Int = defaultUnreferencedSeconds,
      thumbnailCacheBytes: Int = Limits.thumbnailCacheBytes,
      programPath: String = ProcessInfo.processInfo.environment["PATH"] ?? ""
    ) {
      self.maximumBytes = maximumBytes
      self.unreferencedSeconds = unreferencedSeconds
      self.thumbnailCacheBytes = thumbnailCacheBytes
      self.programPath = programPath
    }
  }

  /// Threads that wait for the disk.
  private static let threads = 4
  /// Bytes of an upload that are gathered before they are written.
  private static let gatheredBytes = 256 * 1024

  package let folder: MediaFolder
  package let settings: Settings
  let pool: NIOThreadPool
  let tools: ImageTools?
  let cache: ThumbnailCache
  let rendering = SharedWork<ThumbnailKey, StoredFile>()
  private let holds = Mutex(ContentHolds())
  private let uploads = Mutex(UploadSlots())

  /// Opens or makes the directory, and removes what a crash left unfinished. Blocks on the disk.
  package init(directory: String, settings: Settings) throws(MediaError) {
    folder = try MediaFolder(opening: directory)
    self.settings = settings
    tools = ImageTools(in: settings.programPath)
    pool = NIOThreadPool(numberOfThreads: Self.threads)
    pool.start()
    cache = ThumbnailCache(in: folder, limit: settings.thumbnailCacheBytes)
    // In the background: a start does not wait until all thumbnails are listed.
    pool.submit { [cache] state in
      if case .active = state { cache.trim() }
    }
  }

  /// Nothing may be in progress.
  package func close() { pool.shutdownGracefully { _ in } }

  /// Whether the programs that make thumbnails were found.
  package var makesThumbnails: Bool { tools != nil }

  /// Runs what blocks on the disk off the pool of tasks.
  func onDisk<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await pool.runIfActive(body)
  }

  /// The same for what must be done also when the task has been cancelled, for which `onDisk` does nothing: a client that
  /// goes away leaves nothing behind.
  func onDiskInAnyCase(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      pool.submit { _ in
        body()
        continuation.resume()
      }
    }
  }
}

// MARK: - Coming in

extension MediaStore {
  /// Takes a file in: to the disk as it comes, with its hash, synced. Nothing refers to it before `keep`; what is not
  /// kept must be discarded.
  /// - Parameter user: who uploads it.
  /// - Throws: `MediaError`, or what the body throws.
  package func receive<Body: AsyncSequence>(
    _ body: Body, of user: UserID
  ) async throws -> ReceivedFile where Body.Element == ByteBuffer {
    try uploads.withLock { uploads throws(MediaError) in try uploads.enter(user) }
    defer { uploads.withLock { $0.leave(user) } }
    var file = try await onDisk { [folder, settings] in
      try IncomingFile(in: folder, limit: settings.maximumBytes)
    }
    do {
      var gathered = ByteBuffer()
      for try await var piece in body {
        gathered.writeBuffer(&piece)
        guard gathered.readableBytes >= Self.gatheredBytes else { continue }
        file = try await write(gathered, to: file)
        gathered.clear()
      }
      // A body also ends because its task was cancelled; such a one is not whole.
      try Task.checkCancellation()
      let whole = try await write(gathered, to: file)
      file = whole
      return try await onDisk { try whole.finish() }
    } catch {
      let unfinished = file
      await onDiskInAnyCase { unfinished.discard() }
      throw error
    }
  }

  private func write(_ bytes: ByteBuffer, to file: IncomingFile) async throws -> IncomingFile {
    try await onDisk {
      var file = file
      try file.write(bytes)
      return file
    }
  }

  /// How large an image is, by its header; nil for what is no image or cannot be read, and where the programs are missing.
  /// - Parameter user: who has uploaded it.
  package func imageSize(of file: ReceivedFile, from user: UserID?) async throws -> ImageSize? {
    guard let tools, ContentType.isImage(file.contentType) else { return nil }
    guard try await onDisk({ try WebPFrames.areFew(in: file.path) }) else { return nil }
    return try await tools.headerOfUpload(at: file.path, of: user)?.size
  }

  /// Puts the file where it stays. Its content must be held from before this until what refers to it is durable.
  package func keep(_ file: ReceivedFile) async throws {
    try await onDisk { [folder] in try folder.place(file.path, as: file.hash) }
  }

  package func discard(_ file: ReceivedFile) async {
    await onDiskInAnyCase { try? MediaFolder.remove(file.path) }
  }
}

// MARK: - Going out

extension MediaStore {
  /// - Returns: nil when the content is not there.
  package func open(_ hash: ContentHash) async throws -> StoredFile? {
    try await onDisk { [folder, pool] in try StoredFile(folder.file(hash), pool) }
  }

  /// Keeps contents from being removed for as long as what it returns is there.
  package func hold(_ hashes: Set<ContentHash>) async throws -> MediaHold {
    // On a thread that may wait: for as long as it takes to rename a file, a removal has the lock.
    try await onDisk {
      self.holds.withLock { holds in for hash in hashes { holds.hold(hash) } }
      // Looked for when they are held, and not before: what is there then stays.
      return MediaHold(hashes, present: hashes.filter { self.folder.holds($0) }, in: self)
    }
  }

  fileprivate func release(_ hashes: Set<ContentHash>) {
    holds.withLock { holds in for hash in hashes { holds.release(hash) } }
  }
}

/// Contents that are not removed while this is there.
package final class MediaHold: Sendable {
  /// Those of them whose files are there.
  package let present: Set<ContentHash>
  private let hashes: Set<ContentHash>
  private let store: MediaStore

  fileprivate init(_ hashes: Set<ContentHash>, present: Set<ContentHash>, in store: MediaStore) {
    self.hashes = hashes
    self.present = present
    self.store = store
  }

  deinit { store.release(hashes) }
}

// MARK: - Removing

extension MediaStore {
  /// Removes every content that is old enough and that nothing refers to.
  ///
  /// - Parameters:
  ///   - now: in seconds since 1970.
  ///   - unused: which of these contents nothing refers to, as of a moment after it was called. Asked for the contents
  ///     of one directory at a time.
  /// - Returns: how many were removed.
  package func collect(
    now: Int, unused: (Set<ContentHash>) async throws -> Set<ContentHash>
  ) async throws -> Int {
    var count = 0
    for shelf in try await onDisk({ [folder] in try folder.shelves() }) {
      try Task.checkCancellation()
      let old = try await onDisk { [folder, settings] in
        try folder.contents(of: shelf, olderThan: now - settings.unreferencedSeconds)
      }
      count += try await collect(old, unused)
    }
    return count
  }

  /// Removes one content whatever its age, if it is not held and `isUnused` says so.
  /// - Returns: whether it was removed.
  package func remove(_ hash: ContentHash, if isUnused: () async throws -> Bool) async throws -> Bool {
    guard try await onDisk({ [folder] in folder.holds(hash) }) else { return false }
    return try await collect([hash]) { try await isUnused() ? $0 : [] } == 1
  }

  private func collect(
    _ candidates: [ContentHash], _ unused: (Set<ContentHash>) async throws -> Set<ContentHash>
  ) async throws -> Int {
    let watched = holds.withLock { holds in Set(candidates.filter { holds.watch($0) }) }
    guard !watched.isEmpty else { return 0 }
    var left = watched
    defer { holds.withLock { holds in for hash in left { _ = holds.endWatch(hash) } } }
    var count = 0
    for hash in try await unused(watched).intersection(watched) {
      left.remove(hash)
      if try await onDisk({ try self.remove(hash) }) { count += 1 }
    }
    return count
  }

  /// Ends the watch over a content, and removes it with its thumbnails when nobody has held it meanwhile. Only the
  /// renaming happens under the lock; giving the blocks back may take longer.
  private func remove(_ hash: ContentHash) throws -> Bool {
    let aside = folder.freshIncoming()
    let isAside = try holds.withLock { holds in
      guard holds.endWatch(hash) else { return false }
      guard rename(folder.file(hash), aside) == 0 else { throw MediaFolder.failure("cannot be moved", aside) }
      return true
    }
    guard isAside else { return false }
    for key in ThumbnailKey.all(of: hash) {
      try MediaFolder.remove(folder.thumbnail(key))
      try MediaFolder.remove(folder.undecodable(key))
    }
    try MediaFolder.remove(folder.undecodable(hash))
    try MediaFolder.remove(aside)
    return true
  }
}
