public import ChatPrimitives

/// The response to `POST /v1/media`.
public struct UploadedMedia: ResponseObject {
  public var id: MediaID
  /// Detected from the bytes.
  public var contentType: String
  /// In bytes.
  public var size: Int
  /// In pixels, as the image should be shown; null if the file is not an image or cannot be read.
  @Nullable public var width: Int?
  @Nullable public var height: Int?
  /// The name in the first upload.
  @Nullable public var name: String?
  /// SHA-256 of the bytes, in hexadecimal.
  public var sha256: String
  public var uploadedAt: Timestamp
  public var position: LogPosition

  public init(
    id: MediaID, contentType: String, size: Int, width: Int?, height: Int?, name: String?, sha256: String,
    uploadedAt: Timestamp, position: LogPosition
  ) {
    self.id = id
    self.contentType = contentType
    self.size = size
    self.width = width
    self.height = height
    self.name = name
    self.sha256 = sha256
    self.uploadedAt = uploadedAt
    self.position = position
  }
}

/// `POST /v1/media/urls`: signed URLs for files, with which they can be downloaded without a header.
public struct SignMediaRequest: RequestObject {
  /// 1 to `Limits.signedFiles`.
  public let files: [Strict<FileToSign>]

  public init(files: [Strict<FileToSign>]) {
    self.files = files
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case files
  }
}

/// A file, or a thumbnail of it.
public struct FileToSign: RequestObject {
  public let mediaId: MediaID
  /// The width of the thumbnail in pixels; absent or null for the file itself.
  public let width: Int?

  public init(mediaId: MediaID, width: Int? = nil) {
    self.mediaId = mediaId
    self.width = width
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case mediaId
    case width
  }
}

/// The signed URLs in the order of the request, without those of files that the caller cannot see.
public struct SignedMediaList: ResponseObject {
  public var urls: [SignedMedia]

  public init(urls: [SignedMedia]) {
    self.urls = urls
  }
}

/// The signed URL of a file or a thumbnail.
public struct SignedMedia: Codable, Sendable, Hashable {
  public var mediaId: MediaID
  /// Absent for the file itself.
  public var width: Int?
  /// Relative to the server's address.
  public var url: String
  public var expiresAt: Timestamp

  public init(mediaId: MediaID, width: Int?, url: String, expiresAt: Timestamp) {
    self.mediaId = mediaId
    self.width = width
    self.url = url
    self.expiresAt = expiresAt
  }
}
