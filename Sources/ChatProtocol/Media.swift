public import ChatPrimitives

/// The answer to `POST /v1/media`.
public struct UploadedMedia: ResponseObject {
  public var id: MediaID
  /// As found in the bytes themselves.
  public var contentType: String
  /// In bytes.
  public var size: Int
  /// In pixels, as it is to be shown; null where it is no image, or none that can be read.
  @Nullable public var width: Int?
  @Nullable public var height: Int?
  /// What the upload called itself first.
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
