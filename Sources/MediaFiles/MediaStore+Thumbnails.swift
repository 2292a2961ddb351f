package import ChatPrimitives
import Glibc
import NIOCore
import NIOPosix

/// Identifies one thumbnail of one content.
struct ThumbnailKey: Sendable, Hashable {
  let content: ContentHash
  /// One of `Limits.thumbnailWidths`.
  let width: Int
  let format: ThumbnailFormat

  /// All thumbnails that a content can have.
  static func all(of content: ContentHash) -> [ThumbnailKey] {
    Limits.thumbnailWidths.flatMap { width in
      ThumbnailFormat.allCases.map { ThumbnailKey(content: content, width: width, format: $0) }
    }
  }
}

extension MediaFolder {
  func thumbnail(_ key: ThumbnailKey) -> String {
    thumbnail(key.content, "-\(key.width).\(key.format.fileExtension)")
  }

  /// The path of an empty file that exists if the content could not be decoded.
  func undecodable(_ content: ContentHash) -> String { thumbnail(content, "-undecodable") }

  /// The path of an empty file that exists if this thumbnail is too large. A narrower one may still be possible.
  func undecodable(_ key: ThumbnailKey) -> String { thumbnail(key) + "-undecodable" }

  /// Whether an attempt to make this thumbnail failed less than `Limits.undecodableSeconds` ago. The cause may have
  /// been a busy machine, or a server shutdown that stopped the program, so it is tried again later.
  /// - Parameter now: the time, in seconds since 1970.
  func isUndecodable(_ key: ThumbnailKey, now: Int) -> Bool {
    [undecodable(key.content), undecodable(key)].contains { mark in
      var status = stat()
      return stat(mark, &status) == 0 && status.st_mtim.tv_sec > now - Limits.undecodableSeconds
    }
  }
}

/// A thumbnail that is ready to be sent.
package struct Thumbnail: Sendable {
  package let file: StoredFile
  package let contentType: String
  /// The width of its box, one of `Limits.thumbnailWidths`.
  package let width: Int
}

extension MediaStore {
  /// Returns a thumbnail of an image, from the cache or newly made. Concurrent requests for the same thumbnail share
  /// one process. It runs in the first slot that one of their users gets, and is ended when the last request is
  /// cancelled.
  ///
  /// - Parameters:
  ///   - type: the content's type.
  ///   - size: the image's size, if it is known.
  ///   - width: the width in pixels; rounded up to one of `Limits.thumbnailWidths`.
  ///   - user: the user who requests it, whose slot it uses.
  /// - Returns: nil if there is no such content.
  package func thumbnail(
    of hash: ContentHash, type: String, size: ImageSize?, width: Int, for user: UserID?
  ) async throws -> Thumbnail? {
    // Checked first, so that a removed file looks the same as a file that the user may not see.
    guard try await onDisk({ [folder] in folder.holds(hash) }) else { return nil }
    guard ContentType.isImage(type) else { throw MediaError.imageUndecodable }
    guard let tools else { throw MediaError.thumbnailsUnavailable }
    guard let step = Limits.thumbnailWidths.first(where: { $0 >= width }) ?? Limits.thumbnailWidths.last else {
      throw MediaError.imageUndecodable
    }
    let key = ThumbnailKey(content: hash, width: step, format: ThumbnailFormat(of: type))
    let cached = try await onDisk { [folder, pool] in try StoredFile(folder.thumbnail(key), pool) }
    let file: StoredFile
    if let cached {
      file = cached
    } else {
      let isUndecodable = try await onDisk { [folder] in
        folder.isUndecodable(key, now: time(nil))
      }
      guard !isUndecodable else { throw MediaError.imageUndecodable }
      // The header is checked first, because its size decides whether the image is decoded.
      if let size { try requireDecodable(size) }
      file = try await rendering.value(of: key, in: { try await tools.inSlot(of: user, $0) }) {
        try await self.render(key, by: tools)
      }
    }
    return Thumbnail(file: file, contentType: key.format.contentType, width: step)
  }

  /// Call it in a slot.
  private func render(_ key: ThumbnailKey, by tools: ImageTools) async throws -> StoredFile {
    let (source, mark) = (folder.file(key.content), folder.undecodable(key.content))
    guard try await onDisk({ try WebPFrames.areFew(in: source) }), let header = try await tools.header(of: source)
    else { try await undecodable(key.content, mark) }
    try requireDecodable(header.size)
    let made: [UInt8]?
    do {
      made = try await tools.thumbnail(of: source, width: key.width, profiled: header.hasProfile, as: key.format)
    } catch is OutputTooLarge {
      try await undecodable(key.content, folder.undecodable(key))
    }
    guard let bytes = made else { try await undecodable(key.content, mark) }
    let file = try await onDisk { [folder, pool, cache] in
      let temporary = try folder.synced(bytes)
      do {
        // The file is opened before it is moved, because the content and its thumbnails can be removed right
        // afterwards.
        let file = try StoredFile(temporary, pool)
        try folder.put(temporary, at: folder.thumbnail(key), besides: key.content)
        cache.add(bytes.count)
        return file
      } catch {
        try? MediaFolder.remove(temporary)
        throw error
      }
    }
    guard let file else { throw MediaError.failed("a thumbnail went missing") }
    return file
  }

  private func requireDecodable(_ size: ImageSize) throws {
    guard size.pixels <= UInt64(Limits.imagePixels) else { throw MediaError.imageTooLarge }
  }

  /// Remembers that a thumbnail cannot be made, so that repeated requests do not occupy the processes for as long as
  /// each attempt may take. The mark is removed with the content, and ignored after a while.
  /// - Parameter mark: the path of the mark, for the content or for one thumbnail.
  private func undecodable(_ content: ContentHash, _ mark: String) async throws -> Never {
    try await onDisk { [folder, cache] in
      let temporary = try folder.synced([])
      do {
        try folder.put(temporary, at: mark, besides: content)
        cache.add(0)
      } catch {
        try? MediaFolder.remove(temporary)
        throw error
      }
    }
    throw MediaError.imageUndecodable
  }
}

extension MediaFolder {
  /// Creates a synced file with these bytes. It gets its name in the cache only afterwards, so a crash leaves no
  /// partial file there.
  fileprivate func synced(_ bytes: [UInt8]) throws(MediaError) -> String {
    var file = try IncomingFile(in: self, limit: bytes.count)
    do {
      try file.write(ByteBuffer(bytes: bytes))
      try file.close()
      return file.path
    } catch {
      file.discard()
      throw error
    }
  }

  /// Moves a file that was made from a content to its path, and removes it again if the content was removed meanwhile.
  fileprivate func put(_ source: String, at destination: String, besides content: ContentHash) throws(MediaError) {
    try Self.put(source, at: destination)
    if !holds(content) { try Self.remove(destination) }
  }
}
