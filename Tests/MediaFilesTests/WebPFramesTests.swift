import ChatPrimitives
import Foundation
import Testing

@testable import MediaFiles

@Suite("Counting the frames of a WebP")
struct WebPFramesTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func size(_ count: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(count).littleEndian) { Array($0) } }

  private func chunks(_ name: String, _ count: Int, content: [UInt8] = [1]) -> [UInt8] {
    var chunk = Array(name.utf8)
    chunk += size(content.count)
    chunk += content
    if content.count % 2 == 1 { chunk.append(0) }
    return Array(repeatElement(chunk, count: count).joined())
  }

  /// - Parameter length: the length in the file's header, which does not count the first 8 bytes.
  private func riff(_ body: [UInt8], length: Int? = nil) -> [UInt8] {
    var file = Array("RIFF".utf8)
    file += size(length ?? body.count + 4)
    file += Array("WEBP".utf8)
    return file + body
  }

  private func areFew(_ bytes: [UInt8]) throws -> Bool {
    let path = folder.path + "/image"
    try Data(bytes).write(to: URL(filePath: path))
    return try WebPFrames.areFew(in: path)
  }

  @Test("the limit on frames is met at itself and passed one beyond", arguments: [(-1, true), (0, true), (1, false)])
  func frames(more: Int, areFew: Bool) throws {
    let file = riff(chunks("VP8X", 1) + chunks("ANMF", Limits.webPFrames + more) + chunks("EXIF", 1))
    #expect(try self.areFew(file) == areFew)
  }

  @Test("so is the limit on chunks of any kind", arguments: [(0, true), (1, false)])
  func chunks(more: Int, areFew: Bool) throws {
    #expect(try self.areFew(riff(chunks("UNKN", Limits.webPChunks + more, content: []))) == areFew)
  }

  @Test("frames within a chunk, or behind the end that the file states, are none")
  func hidden() throws {
    let many = chunks("ANMF", Limits.webPFrames + 1)
    #expect(try areFew(riff(chunks("VP8 ", 1) + many, length: 4 + 10)))
    #expect(try areFew(riff(Array("UNKN".utf8) + size(many.count) + many)))
  }

  @Test("a file that is cut off, or no WebP, has few")
  func others() throws {
    let many = riff(chunks("ANMF", Limits.webPFrames + 1))
    #expect(try !areFew(many))
    #expect(try areFew(Array(many.dropLast(10))))
    #expect(try areFew(Array("RIFF".utf8)))
    #expect(try areFew([]))
    #expect(try areFew([0] + many))
  }
}
