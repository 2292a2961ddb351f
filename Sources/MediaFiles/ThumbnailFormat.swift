/// What a thumbnail is kept as: JPEG for photographs, WebP for what may be transparent.
package enum ThumbnailFormat: Sendable, Hashable, CaseIterable {
  case jpeg
  case webp

  /// How much higher than wide a thumbnail may be; a higher image is narrower than was asked for.
  static let heightPerWidth = 4
  private static let quality = 80

  /// - Parameter type: of the image.
  init(of type: String) {
    switch type {
    case "image/jpeg", "image/heic", "image/heif": self = .jpeg
    default: self = .webp
    }
  }

  package var contentType: String {
    switch self {
    case .jpeg: "image/jpeg"
    case .webp: "image/webp"
    }
  }

  var fileExtension: String {
    switch self {
    case .jpeg: "jpg"
    case .webp: "webp"
    }
  }

  /// What vipsthumbnail is told: the format on its standard output, without metadata.
  var output: String { ".\(fileExtension)[Q=\(Self.quality),strip]" }

  /// The image without metadata; nil when it is not of this format. libvips 8.14 leaves a WebP's in spite of `strip`,
  /// and with it where a photograph was taken.
  func cleaned(_ bytes: [UInt8]) -> [UInt8]? {
    switch self {
    case .jpeg: bytes.starts(with: [0xFF, 0xD8, 0xFF]) ? bytes : nil
    case .webp: WebPContainer.withoutMetadata(bytes)
    }
  }
}
