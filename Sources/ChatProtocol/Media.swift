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
