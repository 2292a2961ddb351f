import Testing

@testable import MediaFiles

@Suite("What a file is, by its bytes")
struct ContentTypeTests {
  private static func bytes(_ text: String, then rest: [UInt8] = [0, 0, 0, 0]) -> [UInt8] {
    text.unicodeScalars.map { UInt8($0.value) } + rest
  }

  private static func ftyp(_ major: String, _ compatible: String...) -> [UInt8] {
    let size = UInt8(16 + compatible.count * 4)
    return [0, 0, 0, size] + Array("ftyp".utf8) + Array(major.utf8) + [0, 0, 0, 0]
      + compatible.flatMap { Array($0.utf8) }
  }

  private static let webm =
    [UInt8]([0x1A, 0x45, 0xDF, 0xA3]) + [UInt8](repeating: 0, count: 27) + Array("webm".utf8)

  @Test(
    "each kind is known by its magic number",
    arguments: [
      (bytes("\u{FF}\u{D8}\u{FF}\u{E0}"), "image/jpeg"), (bytes("\u{89}PNG\r\n\u{1A}\n"), "image/png"),
      (bytes("GIF87a"), "image/gif"), (bytes("GIF89a"), "image/gif"),
      (bytes("RIFF\u{1}\u{1}\u{1}\u{1}WEBPVP8 "), "image/webp"), (ftyp("heic"), "image/heic"),
      (ftyp("mif1", "heic"), "image/heic"), (ftyp("mif1", "miaf"), "image/heif"), (ftyp("msf1"), "image/heif"),
      (ftyp("heic", "mif1"), "image/heic"), (ftyp("mif1", "miaf", "avif"), "image/avif"), (ftyp("avif"), "image/avif"),
      (ftyp("isom", "mp42"), "video/mp4"), (ftyp("qt  "), "video/quicktime"), (ftyp("M4A ", "isom"), "audio/mp4"),
      (webm, "video/webm"), (bytes("ID3\u{4}"), "audio/mpeg"), (bytes("\u{FF}\u{FB}\u{90}\u{64}"), "audio/mpeg"),
      (bytes("OggS", then: [UInt8](repeating: 0, count: 24) + Array("\u{1}vorbis".utf8)), "audio/ogg"),
      (bytes("OggS", then: [UInt8](repeating: 0, count: 24) + [0x80] + Array("theora".utf8)), "video/ogg"),
      (bytes("RIFF\u{1}\u{1}\u{1}\u{1}WAVEfmt "), "audio/wav"), (bytes("fLaC"), "audio/flac"),
      (bytes("#!AMR\n"), "audio/amr"), (bytes("caff\u{0}\u{1}"), "audio/x-caf"),
      (bytes("\u{FF}\u{F1}\u{50}\u{80}"), "audio/aac"), (bytes("\u{FF}\u{F9}\u{50}\u{80}"), "audio/aac"),
      (bytes("%PDF-1.7"), "application/pdf"), (bytes("PK\u{3}\u{4}"), "application/zip"),
    ])
  func magic(head: [UInt8], type: String) {
    #expect(ContentType.sniff(head) == type)
  }

  @Test(
    "what has no magic number is text or unknown, and never what a browser runs",
    arguments: [
      (Array("<!DOCTYPE html><script>".utf8), ContentType.text), (Array("<svg/>".utf8), ContentType.text),
      (Array("\u{CC28}\t\r\n".utf8), ContentType.text), ([], ContentType.unknown), ([0xC3], ContentType.unknown),
      ([0x61, 0x00], ContentType.unknown), ([0x61, 0x7F], ContentType.unknown), ([0xFF, 0xFE], ContentType.unknown),
      (ftyp("abcd"), ContentType.unknown),
      (Array("\u{FF}".unicodeScalars.map { UInt8($0.value) }), ContentType.unknown),
      (bytes("RIFF\u{1}\u{1}\u{1}\u{1}AVI "), ContentType.unknown), ([0xFF, 0xFB, 0xF0, 0x64], ContentType.unknown),
    ])
  func others(head: [UInt8], type: String) {
    #expect(ContentType.sniff(head) == type)
  }

  @Test("a character that the head cuts through does not spoil a text", arguments: 0...3)
  func cut(shift: Int) {
    let text = Array((String(repeating: "x", count: shift) + String(repeating: "\u{1F375}", count: 2000)).utf8)
    #expect(ContentType.sniff(Array(text.prefix(ContentType.sniffedBytes))) == ContentType.text)
    #expect(ContentType.sniff(Array(text.prefix(4001 + shift))) == ContentType.unknown)
  }
}
