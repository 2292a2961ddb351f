/// Detects the content type of a file from its first bytes. The type that the client claims is ignored, because a
/// browser would execute whatever the type says.
///
/// HTML and SVG count as text here, and are served as text.
package enum ContentType {
  /// The number of bytes that are examined.
  package static let sniffedBytes = 4096
  package static let unknown = "application/octet-stream"
  package static let text = "text/plain; charset=utf-8"

  /// - Parameter head: the first `sniffedBytes` bytes of the file, or all of a shorter file.
  package static func sniff(_ head: [UInt8]) -> String {
    for magic in magics where magic.matches(head) { return magic.type }
    if let type = isoMediaType(head) { return type }
    if isMP3Frame(head) { return "audio/mpeg" }
    if isADTSFrame(head) { return "audio/aac" }
    return isText(head) ? text : unknown
  }

  /// Whether thumbnails can be made of this type.
  package static func isImage(_ type: String) -> Bool { thumbnailTypes.contains(type) }

  private static let thumbnailTypes: Set<String> = [
    "image/jpeg", "image/png", "image/gif", "image/webp", "image/heic", "image/heif", "image/avif",
  ]

  // MARK: - Magic numbers

  /// Bytes at fixed offsets that identify a type.
  private struct Magic {
    let type: String
    let parts: [(offset: Int, bytes: [UInt8])]

    init(_ type: String, _ parts: (Int, String)...) {
      self.type = type
      self.parts = parts.map { ($0.0, Array($0.1.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })) }
    }

    func matches(_ head: [UInt8]) -> Bool {
      parts.allSatisfy { part in
        head.count >= part.offset + part.bytes.count
          && head[part.offset..<part.offset + part.bytes.count].elementsEqual(part.bytes)
      }
    }
  }

  private static let magics = [
    Magic("image/jpeg", (0, "\u{FF}\u{D8}\u{FF}")),
    Magic("image/png", (0, "\u{89}PNG\r\n\u{1A}\n")),
    Magic("image/gif", (0, "GIF87a")), Magic("image/gif", (0, "GIF89a")),
    Magic("image/webp", (0, "RIFF"), (8, "WEBP")),
    // The document type in the EBML header (RFC 8794), at the offsets that common muxers use.
    Magic("video/webm", (0, "\u{1A}\u{45}\u{DF}\u{A3}"), (31, "webm")),
    Magic("video/webm", (0, "\u{1A}\u{45}\u{DF}\u{A3}"), (24, "webm")),
    Magic("audio/mpeg", (0, "ID3")),
    Magic("audio/wav", (0, "RIFF"), (8, "WAVE")), Magic("audio/flac", (0, "fLaC")),
    Magic("audio/amr", (0, "#!AMR")), Magic("audio/x-caf", (0, "caff\u{00}\u{01}")),
    Magic("video/ogg", (0, "OggS"), (28, "\u{80}theora")), Magic("audio/ogg", (0, "OggS")),
    Magic("application/pdf", (0, "%PDF-")),
    Magic("application/zip", (0, "PK\u{03}\u{04}")), Magic("application/zip", (0, "PK\u{05}\u{06}")),
  ]

  // MARK: - ISO base media files

  /// Detects the type by the brands in the `ftyp` box (ISO/IEC 14496-12, section 4.3): the major brand first, then the
  /// compatible ones.
  private static func isoMediaType(_ head: [UInt8]) -> String? {
    guard head.count >= 16, head[4..<8].elementsEqual("ftyp".utf8) else { return nil }
    let size = head[0..<4].reduce(0) { $0 << 8 | Int($1) }
    let end = min(max(size, 16), head.count)
    let compatible = stride(from: 16, to: end - 3, by: 4).map { head[$0..<$0 + 4] }
    let types = ([head[8..<12]] + compatible).compactMap { brands[String(decoding: $0, as: UTF8.self)] }
    // The brand that any HEIF file may have is the least specific.
    return types.first { $0 != anyHEIF } ?? types.first
  }

  private static let anyHEIF = "image/heif"

  private static let brands: [String: String] = {
    let types: [(type: String, brands: [String])] = [
      ("image/heic", ["heic", "heix", "heim", "heis", "hevc", "hevx"]),
      ("image/avif", ["avif", "avis"]),
      (anyHEIF, ["mif1", "msf1"]),
      ("video/quicktime", ["qt  "]),
      ("audio/mp4", ["M4A ", "M4B ", "M4P "]),
      ("video/mp4", ["isom", "iso2", "iso4", "iso5", "iso6", "mp41", "mp42", "avc1", "M4V ", "3gp4", "3gp5", "3gp6"]),
    ]
    return Dictionary(uniqueKeysWithValues: types.flatMap { entry in entry.brands.map { ($0, entry.type) } })
  }()

  // MARK: - Sound and text

  /// Detects a frame of MPEG audio, layer III (ISO/IEC 11172-3, section 2.4.1.3), with a valid bit rate and sampling
  /// rate.
  private static func isMP3Frame(_ head: [UInt8]) -> Bool {
    guard head.count >= 4, head[0] == 0xFF, head[1] & 0xE6 == 0xE2 else { return false }
    return head[1] & 0x18 != 0x08 && head[2] & 0xF0 != 0xF0 && head[2] & 0xF0 != 0 && head[2] & 0x0C != 0x0C
  }

  /// Detects a frame of AAC in ADTS (ISO/IEC 14496-3, section 1.A.3.2.1), with a valid sampling rate.
  private static func isADTSFrame(_ head: [UInt8]) -> Bool {
    head.count >= 7 && head[0] == 0xFF && head[1] & 0xF6 == 0xF0 && head[2] >> 2 & 0x0F < 13
  }

  /// Detects UTF-8 without control characters, except those of plain text. The head may end within a character.
  private static func isText(_ head: [UInt8]) -> Bool {
    guard !head.isEmpty else { return false }
    let controls: Set<UInt8> = [0x09, 0x0A, 0x0C, 0x0D, 0x1B]
    guard head.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || controls.contains($0) }) else { return false }
    let whole = head.count < sniffedBytes ? head[...] : head.dropLast(cutBytes(at: head))
    return String(validating: whole, as: UTF8.self) != nil
  }

  /// The number of bytes at the end that begin an incomplete character; at most three.
  private static func cutBytes(at head: [UInt8]) -> Int {
    for back in 1...3 where head.count >= back {
      let byte = head[head.count - back]
      if byte & 0xC0 == 0x80 { continue }
      let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
      return length > back ? back : 0
    }
    return 0
  }
}
