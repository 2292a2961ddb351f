import ChatPrimitives
import Synchronization
import Testing

@testable import MediaFiles

@Suite("Images that wait for a program", .timeLimit(.minutes(1)))
struct WaitingImagesTests {
  private let folder: TemporaryFolder
  private let tools: ImageTools

  /// No program runs in these tests, because every slot is taken.
  init() throws {
    folder = try TemporaryFolder()
    let programs = try FakePrograms(in: folder, vipsheader: "exit 1", vipsthumbnail: "exit 1")
    tools = try #require(programs.tools())
  }

  /// This is a class, because several tasks share it.
  private final class Refusals: Sendable {
    let count = Atomic(0)
  }

  /// Takes every slot, lets one user make one more request than may wait, and cancels them all.
  /// - Returns: the number of requests that were rejected as busy.
  private func refusals(
    of slots: AsyncSemaphore<UserID?>, slotCount: Int, _ request: @escaping @Sendable () async throws -> Void
  ) async throws -> Int {
    var taken: [AsyncSemaphore<UserID?>.Slot] = []
    for number in 0..<UInt64(slotCount) { taken.append(try await slots.take(for: user(number))) }
    defer { withExtendedLifetime(taken) {} }
    let refusals = Refusals()
    let requests = (0...Limits.waitingImages).map { _ in
      Task {
        do {
          try await request()
        } catch MediaError.busy {
          refusals.count.add(1, ordering: .relaxed)
        } catch {}
      }
    }
    defer { for request in requests { request.cancel() } }
    while slots.waitingCount + refusals.count.load(ordering: .relaxed) < requests.count {
      try await Task.sleep(for: .milliseconds(1))
    }
    return refusals.count.load(ordering: .relaxed)
  }

  @Test("thumbnails: 64 wait, and one more is refused")
  func thumbnails() async throws {
    let tools = self.tools
    let refused = try await refusals(of: tools.slots, slotCount: Limits.imageProcesses) {
      try await tools.inSlot(of: anna) {}
    }
    #expect(refused == 1)
  }

  @Test("headers of uploads: 64 wait, and one more is refused")
  func headers() async throws {
    let tools = self.tools
    let refused = try await refusals(of: tools.headerSlots, slotCount: Limits.headerProcesses) {
      _ = try await tools.headerOfUpload(at: "/dev/null", of: anna)
    }
    #expect(refused == 1)
  }
}
