import Testing

@testable import MediaFiles

@Suite("What is made of an image")
struct ThumbnailTests {
  @Test("the size is read from the header, as the image is to be shown")
  func size() {
    let fields = "width: 640\nheight: 480\nbands: 3\n"
    #expect(ImageHeader(fields)?.hasProfile == false)
    #expect(ImageHeader(fields + "icc-profile-data: 588 bytes of binary data\n")?.hasProfile == true)
    #expect(ImageHeader(fields + "comment: icc-profile-data: \n")?.hasProfile == false)
    #expect(ImageHeader("icc-profile-data: 588 bytes of binary data\n") == nil)
    #expect(ImageSize(header: fields) == ImageSize(width: 640, height: 480))
    #expect(ImageSize(header: fields + "orientation: 1\n") == ImageSize(width: 640, height: 480))
    for turned in 5...8 {
      #expect(ImageSize(header: fields + "orientation: \(turned)\n") == ImageSize(width: 480, height: 640))
    }
    #expect(ImageSize(header: fields + "comment: \nwidth: 9\n") == ImageSize(width: 640, height: 480))
    for bad in ["", "width: 640\n", "width: 0\nheight: 1\n", "width: -1\nheight: 1\n", "width: 1e9\nheight: 1\n"] {
      #expect(ImageSize(header: bad) == nil, "\(bad)")
    }
    #expect(ImageSize(width: .max, height: .max).pixels > UInt64(UInt32.max))
  }

  private func riff(_ chunks: (String, [UInt8])...) -> [UInt8] {
    var body = Array("WEBP".utf8)
    for (name, content) in chunks {
      body += Array(name.utf8)
      body += [UInt8(content.count), 0, 0, 0]
      body += content
      if content.count % 2 == 1 { body.append(0) }
    }
    return Array("RIFF".utf8) + [UInt8(body.count), 0, 0, 0] + body
  }

  @Test("a WebP loses what a camera wrote into it, and nothing else")
  func webp() {
    let whole = riff(("VP8X", [0b0001_1100, 0, 0, 0]), ("VP8 ", [1, 2, 3]), ("EXIF", [4]), ("XMP ", [5, 6]))
    #expect(WebPContainer.withoutMetadata(whole) == riff(("VP8X", [0b0001_0000, 0, 0, 0]), ("VP8 ", [1, 2, 3])))
    let plain = riff(("VP8 ", [1, 2]))
    #expect(WebPContainer.withoutMetadata(plain) == plain)
    #expect(WebPContainer.withoutMetadata(plain + [7]) == plain)
  }

  @Test("an incomplete WebP is not recognized")
  func brokenWebP() {
    let whole = riff(("VP8X", [0, 0, 0, 0]), ("VP8 ", [1, 2, 3]))
    for length in 0..<whole.count { #expect(WebPContainer.withoutMetadata(Array(whole.prefix(length))) == nil) }
    #expect(WebPContainer.withoutMetadata(riff(("EXIF", [1]))) == nil)
    var long = whole
    long[16] = 255
    #expect(WebPContainer.withoutMetadata(long) == nil)
    #expect(WebPContainer.withoutMetadata(Array("RIFFxxxxWAVE".utf8)) == nil)
  }
}
