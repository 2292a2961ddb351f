/// Why a file was not taken, or an image not shown.
package enum MediaError: Error, Sendable, Hashable {
  /// The upload has more bytes than are taken.
  case tooLarge(limit: Int)
  /// The upload has no bytes.
  case empty
  /// The disk has no room.
  case storageFull
  /// The user has more uploads in progress than one user may have.
  case tooManyUploads
  /// More uploads, downloads or images are in progress than the server takes, or than the limit on open files allows.
  case busy
  /// The image has more pixels than are decoded.
  case imageTooLarge
  /// That is no image that can be decoded, within the limits that decoding has.
  case imageUndecodable
  /// The programs that make thumbnails are not installed.
  case thumbnailsUnavailable
  /// A failure of the machine; the text is for the server's log.
  case failed(String)
}
