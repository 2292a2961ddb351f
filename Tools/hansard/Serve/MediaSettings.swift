import ChatPrimitives
import MediaFiles

extension MediaStore.Settings {
  /// The largest upload limit that can be set: 16 GiB.
  private static let mostBytes = 16 * 1024 * 1024 * 1024
  /// The largest limit on disk space for thumbnails: 64 GiB. Listing more files would take too long.
  private static let mostThumbnailMebibytes = 64 * 1024
  private static let mebibyte = 1024 * 1024
  /// Ten years, in seconds.
  private static let longestAgeSeconds = 10 * 365 * 24 * 60 * 60

  init(_ reader: inout SettingReader) {
    self.init()
    maximumBytes = reader.integer(
      "media.limit", default: Limits.mediaBytes, in: 1...Self.mostBytes, "maximum size of an uploaded file, in bytes")
    unreferencedSeconds = reader.integer(
      "media.unreferencedAge", default: Self.defaultUnreferencedSeconds, in: 1...Self.longestAgeSeconds,
      "seconds after which an unreferenced upload is removed")
    let mebibytes = reader.integer(
      "media.thumbnailCacheMebibytes", default: Limits.thumbnailCacheBytes / Self.mebibyte,
      in: 1...Self.mostThumbnailMebibytes,
      "MiB of disk space for all thumbnails; beyond that, the oldest are removed")
    thumbnailCacheBytes = mebibytes * Self.mebibyte
  }
}
