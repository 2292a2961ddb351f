/// The chunks of a WebP file (<https://developers.google.com/speed/webp/docs/riff_container>).
enum WebPContainer {
  private static let headerBytes = 12
  private static let chunkHeaderBytes = 8
  private static let metadata = ["EXIF", "XMP ", "ICCP"]
  /// The bits of `VP8X`'s first byte that announce EXIF, XMP and a colour profile.
  private static let metadataFlags: UInt8 = 0b0010_1100

  /// The file without its EXIF, XMP and colour profile; nil if it is not a complete WebP file. Removing the profile is
  /// correct because the colours are sRGB already, which is also the default without a profile.
  static func withoutMetadata(_ file: [UInt8]) -> [UInt8]? {
    guard file.count >= headerBytes, file[0..<4].elementsEqual("RIFF".utf8), file[8..<12].elementsEqual("WEBP".utf8),
      length(in: file, at: 4) + chunkHeaderBytes <= file.count
    else { return nil }
    let end = length(in: file, at: 4) + chunkHeaderBytes
    var body: [UInt8] = []
    var offset = headerBytes
    while offset < end {
      guard offset + chunkHeaderBytes <= end else { return nil }
      let name = String(decoding: file[offset..<offset + 4], as: UTF8.self)
      let length = length(in: file, at: offset + 4)
      // A chunk of odd length is followed by a padding byte.
      let next = offset + chunkHeaderBytes + length + length % 2
      guard next <= end else { return nil }
      if !metadata.contains(name) {
        var chunk = Array(file[offset..<next])
        if name == "VP8X", length > 0 { chunk[chunkHeaderBytes] &= ~metadataFlags }
        body += chunk
      }
      offset = next
    }
    guard !body.isEmpty, let size = UInt32(exactly: body.count + 4) else { return nil }
    let sizeBytes = withUnsafeBytes(of: size.littleEndian) { Array($0) }
    return Array("RIFF".utf8) + sizeBytes + Array("WEBP".utf8) + body
  }

  private static func length(in file: [UInt8], at offset: Int) -> Int {
    (0..<4).reduce(0) { $0 | Int(file[offset + $1]) << (8 * $1) }
  }
}
