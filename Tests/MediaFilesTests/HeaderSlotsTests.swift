import Foundation
import Testing

@testable import MediaFiles

@Suite("Headers of uploaded images", .timeLimit(.minutes(1)))
struct HeaderSlotsTests {
  private let folder: TemporaryFolder
  private let tools: ImageTools
  private let image: String
  /// A file with a line for each start and each end of a program.
  private let turns: String

  /// Reading a header takes 0.1 s, which is long enough for other programs to start meanwhile. The time limit is longer
  /// than the server's limit, which a program can reach on a busy machine.
  init() throws {
    folder = try TemporaryFolder()
    (image, turns) = (folder.path + "/image", folder.path + "/turns")
    try Data([1]).write(to: URL(filePath: image))
    let programs = try FakePrograms(
      in: folder,
      vipsheader: """
        echo begin >> '\(turns)'; sleep 0.1; echo end >> '\(turns)'
        echo width: 9; echo height: 9
        """,
      vipsthumbnail: "exit 1")
    tools = try #require(programs.tools())
  }

  /// The maximum number of programs that ran at once.
  private func mostAtOnce() throws -> Int {
    var (running, most) = (0, 0)
    for turn in try String(contentsOfFile: turns, encoding: .utf8).split(separator: "\n") {
      running += turn == "begin" ? 1 : -1
      most = max(most, running)
    }
    return most
  }

  @Test("are read by two programs at once, and by one for each user", arguments: [(4, 2), (1, 1)] as [(UInt64, Int)])
  func atOnce(users: UInt64, most: Int) async throws {
    try Data().write(to: URL(filePath: turns))
    #expect(try await readFour(of: users))
    #expect(try mostAtOnce() <= most)
  }

  /// - Returns: whether all headers were read.
  private func readFour(of users: UInt64) async throws -> Bool {
    let (tools, image) = (self.tools, self.image)
    return try await withThrowingTaskGroup(of: ImageHeader?.self) { group in
      for number in 0..<4 as Range<UInt64> {
        group.addTask { try await tools.headerOfUpload(at: image, of: user(number % users)) }
      }
      return try await group.allSatisfy { $0?.size == ImageSize(width: 9, height: 9) }
    }
  }

  @Test("are read while every slot for thumbnails is taken")
  func besideThumbnails() async throws {
    let (tools, image) = (self.tools, self.image)
    let header = try await tools.inSlot(of: user(1)) {
      try await tools.inSlot(of: user(2)) { try await tools.headerOfUpload(at: image, of: user(1)) }
    }
    #expect(header != nil)
  }
}
