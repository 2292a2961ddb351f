import ChatPrimitives
import Foundation
import Testing

@testable import MediaFiles

@Suite("Images that take too much")
struct ThumbnailLimitTests {
  private let folder: TemporaryFolder
  private let programs: FakePrograms
  private let store: MediaStore

  /// The widest thumbnail exceeds the output limit of a program.
  init() throws {
    folder = try TemporaryFolder()
    programs = try FakePrograms(
      in: folder, vipsheader: "echo width: 9; echo height: 9",
      vipsthumbnail: """
        printf '\\377\\330\\377'
        case "$*" in *1920x*) exec head -c \(ConfinedProcess.outputBytes) /dev/zero;; esac
        """)
    store = try MediaStore(directory: folder.media, settings: programs.settings(maximumBytes: 100_000))
  }

  private func thumbnail(_ hash: ContentHash, _ type: String, width: Int) async throws -> Thumbnail? {
    try await store.thumbnail(of: hash, type: type, size: nil, width: width, for: anna)
  }

  @Test("a thumbnail that is too large is refused at its width alone, and is not made again")
  func width() async throws {
    let file = try await store.receive(body([[1]]), of: anna)
    try await store.keep(file)
    for _ in 0..<2 {
      await #expect(throws: MediaError.imageUndecodable) {
        _ = try await thumbnail(file.hash, "image/jpeg", width: 1920)
      }
    }
    #expect(programs.runs == 2)
    #expect(try await thumbnail(file.hash, "image/jpeg", width: 320)?.file.size == 3)
    #expect(programs.runs == 4)
    let later = Int(Date().timeIntervalSince1970) + 172_800
    #expect(try await store.collect(now: later) { $0 } == 1)
    let directory = "\(store.folder.thumbnails)/\(file.hash.hex.prefix(2))"
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
  }

  @Test("no program looks at a WebP with too many frames")
  func frames() async throws {
    let frame = Array("ANMF".utf8) + [0, 0, 0, 0]
    let frames = Array(repeatElement(frame, count: Limits.webPFrames + 1).joined())
    let length = withUnsafeBytes(of: UInt32(frames.count + 4).littleEndian) { Array($0) }
    let pieces = [Array("RIFF".utf8), length, Array("WEBP".utf8), frames]
    let file = try await store.receive(body(pieces), of: anna)
    #expect(file.contentType == "image/webp")
    #expect(try await store.imageSize(of: file, from: anna) == nil)
    try await store.keep(file)
    await #expect(throws: MediaError.imageUndecodable) {
      _ = try await thumbnail(file.hash, file.contentType, width: 80)
    }
    #expect(programs.runs == 0)
  }
}
