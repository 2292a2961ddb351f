/// Why a file was rejected or an image cannot be shown.
package enum MediaError: Error, Sendable, Hashable {
  /// The upload is larger than the limit.
  case tooLarge(limit: Int)
  /// The upload has no bytes.
  case empty
  /// The disk is full.
  case storageFull
  /// The user has too many uploads in progress.
  case tooManyUploads
  /// Too many uploads, downloads or images are in progress, or the limit on open files was reached.
  case busy
  /// The image has more pixels than the server decodes.
  case imageTooLarge
  /// The file is not an image that can be decoded within the limits.
  case imageUndecodable
  /// The programs that make thumbnails are not installed.
  case thumbnailsUnavailable
  /// The machine failed; the text is for the server's log.
  case failed(String)
}
