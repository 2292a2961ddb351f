package import ChatPrimitives
package import Foundation
import Glibc
package import NIOCore
import NIOPosix
import Synchronization

/// The uploaded files of one server: receives them, serves them, makes thumbnails, and removes contents that nothing
/// refers to. It knows contents only by their hash; callers must check who may see them.
package final class MediaStore: Sendable {
  /// The settings for the operator, and for specs.
  package struct Settings: Sendable, Hashable {
    /// The maximum size of one upload, in bytes.
    package var maximumBytes: Int
    /// Contents without references are removed if they were uploaded longer ago than this, in seconds.
    package var unreferencedSeconds: Int
    /// The maximum size of all thumbnails on the disk, in bytes.
    package var thumbnailCacheBytes: Int
    /// The directories of the image programs, separated by colons.
    package var programPath: String
    /// How long reading a header and making a thumbnail may take, in elapsed time. It is no setting of the operator:
    /// specs whose programs are scripts set it, so that they pass on a busy machine too.
    package var headerTime: Duration
    package var thumbnailTime: Duration

    package static let defaultUnreferencedSeconds = 24 * 60 * 60
    package static let defaultHeaderTime = Duration.seconds(ConfinedProcess.headerWallSeconds)
    package static let defaultThumbnailTime = Duration.seconds(ConfinedProcess.wallSeconds)

    package init(
      maximumBytes: Int = Limits.mediaBytes, unreferencedSeconds: Int = defaultUnreferencedSeconds,
      thumbnailCacheBytes: Int = Limits.thumbnailCacheBytes,
      programPath: String = ProcessInfo.processInfo.environment["PATH"] ?? "",
      headerTime: Duration = defaultHeaderTime, thumbnailTime: Duration = defaultThumbnailTime
    ) {
      self.maximumBytes = maximumBytes
      self.unreferencedSeconds = unreferencedSeconds
      self.thumbnailCacheBytes = thumbnailCacheBytes
      self.programPath = programPath
      self.headerTime = headerTime
      self.thumbnailTime = thumbnailTime
    }
  }

  /// The number of threads for disk access.
  private static let threads = 4
  /// The number of bytes of an upload that are collected before they are written.
  private static let gatheredBytes = 256 * 1024

  package let folder: MediaFolder
  package let settings: Settings
  let pool: NIOThreadPool
  let tools: ImageTools?
  let cache: ThumbnailCache
  let rendering = SharedWork<ThumbnailKey, StoredFile>()
  private let holds = Mutex(ContentHolds())
  private let uploads = Mutex(UploadSlots())

  /// Opens or creates the directory, and removes unfinished files that a crash left behind. Blocks on the disk.
  package init(directory: String, settings: Settings) throws(MediaError) {
    folder = try MediaFolder(opening: directory)
    self.settings = settings
    tools = ImageTools(
      in: settings.programPath, headerTime: settings.headerTime, thumbnailTime: settings.thumbnailTime)
    pool = NIOThreadPool(numberOfThreads: Self.threads)
    pool.start()
    cache = ThumbnailCache(in: folder, limit: settings.thumbnailCacheBytes)
    // This runs in the background, so that the start does not wait for listing all thumbnails.
    pool.submit { [cache] state in
      if case .active = state { cache.trim() }
    }
  }

  /// Call it only when nothing is in progress.
  package func close() { pool.shutdownGracefully { _ in } }

  /// Whether the programs that make thumbnails were found.
  package var makesThumbnails: Bool { tools != nil }

  /// Runs code that blocks on the disk outside the cooperative thread pool.
  func onDisk<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await pool.runIfActive(body)
  }

  /// Does the same, but also if the task was cancelled, in which case `onDisk` does nothing. This way, a client that
  /// disconnects leaves nothing behind.
  func onDiskEvenIfCancelled(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      pool.submit { _ in
        body()
        continuation.resume()
      }
    }
  }
}

// MARK: - Receiving

extension MediaStore {
  /// Receives a file: writes it to the disk as it arrives, hashes it and syncs it. Nothing refers to it before `keep`;
  /// a file that is not kept must be discarded.
  /// - Parameter user: the user who uploads it.
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
      // A body also ends if its task is cancelled; the file is then incomplete.
      try Task.checkCancellation()
      let whole = try await write(gathered, to: file)
      file = whole
      return try await onDisk { try whole.finish() }
    } catch {
      let unfinished = file
      await onDiskEvenIfCancelled { unfinished.discard() }
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

  /// Reads the size of an image from its header. Returns nil if the file is not an image, cannot be read, or if the
  /// programs are missing.
  /// - Parameter user: the user who uploaded it.
  package func imageSize(of file: ReceivedFile, from user: UserID?) async throws -> ImageSize? {
    guard let tools, ContentType.isImage(file.contentType) else { return nil }
    guard try await onDisk({ try WebPFrames.areFew(in: file.path) }) else { return nil }
    return try await tools.headerOfUpload(at: file.path, of: user)?.size
  }

  /// Moves the file to its final path. The caller must hold its content from before this call until the reference to it
  /// is durable.
  package func keep(_ file: ReceivedFile) async throws {
    try await onDisk { [folder] in try folder.place(file.path, as: file.hash) }
  }

  package func discard(_ file: ReceivedFile) async {
    await onDiskEvenIfCancelled { try? MediaFolder.remove(file.path) }
  }
}

// MARK: - Serving

extension MediaStore {
  /// - Returns: nil if there is no such content.
  package func open(_ hash: ContentHash) async throws -> StoredFile? {
    try await onDisk { [folder, pool] in try StoredFile(folder.file(hash), pool) }
  }

  /// Prevents contents from being removed for as long as the result exists.
  package func hold(_ hashes: Set<ContentHash>) async throws -> MediaHold {
    // This runs on a thread that may block, because a removal keeps the lock while it renames a file.
    try await onDisk {
      self.holds.withLock { holds in for hash in hashes { holds.hold(hash) } }
      // The files are looked up while the contents are held, so those that are found stay.
      return MediaHold(hashes, present: hashes.filter { self.folder.holds($0) }, in: self)
    }
  }

  fileprivate func release(_ hashes: Set<ContentHash>) {
    holds.withLock { holds in for hash in hashes { holds.release(hash) } }
  }
}

/// Contents that are not removed while this object exists.
package final class MediaHold: Sendable {
  /// The contents whose files exist.
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
  ///   - now: the time, in seconds since 1970.
  ///   - unused: returns which of these contents nothing refers to, as of a moment after the call. It is called with
  ///     the contents of one directory at a time.
  /// - Returns: the number of contents that were removed.
  package func collect(
    now: Int, unused: (Set<ContentHash>) async throws -> Set<ContentHash>
  ) async throws -> Int {
    var count = 0
    for directory in try await onDisk({ [folder] in try folder.hashDirectories() }) {
      try Task.checkCancellation()
      let old = try await onDisk { [folder, settings] in
        try folder.contents(of: directory, olderThan: now - settings.unreferencedSeconds)
      }
      count += try await collect(old, unused)
    }
    return count
  }

  /// Whether a content is so old that `collect` removes it if nothing refers to it.
  /// - Parameter now: the time, in seconds since 1970.
  package func isCollectable(_ hash: ContentHash, now: Int) async throws -> Bool {
    try await onDisk { [folder, settings] in folder.isOlder(hash, than: now - settings.unreferencedSeconds) }
  }

  /// Removes one content regardless of its age, if it is not held and `isUnused` returns true.
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

  /// Ends the watch on a content, and removes the content with its thumbnails if no task has held it meanwhile. Only
  /// the rename happens under the lock, because freeing the disk blocks may take longer.
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
