import ChatPrimitives
import ChatProjections
package import Logging
import MediaFiles

extension ChatService {
  /// Removes uploads that are old enough and that nothing refers to, unless a command is about to refer to one. Removes
  /// nothing while a legal hold is in force.
  /// - Returns: how many files were removed.
  @discardableResult
  package func collectMedia() async throws -> Int {
    // The read model no longer says which files a deleted user uploaded, so a legal hold keeps all of them.
    let holds = try await legalHolds(after: nil, limit: 1).holds
    guard holds.isEmpty else { return 0 }
    return try await media.collect(now: collectionSeconds) { contents in
      try await self.unusedMedia(contents)
    }
  }

  /// The time by which the age of a file is known, in seconds since 1970.
  private var collectionSeconds: Int { Int(clamping: clock.settled.milliseconds / 1000) }

  /// Whether a file is there only as evidence: without the reports of messages with it, it would be collected. For
  /// everyone except services there is no such file. Otherwise its uploader would learn of the report.
  func isEvidenceOnly(_ hash: ContentHash) async throws(ServiceError) -> Bool {
    guard try await mediaRows({ try $0.isKeptByReportsOnly(hash.bytes) }) else { return false }
    return try await failing { try await self.media.isCollectable(hash, now: self.collectionSeconds) }
  }

  /// Those of these files that nothing refers to now.
  private func unusedMedia(_ contents: Set<ContentHash>) async throws -> Set<ContentHash> {
    Set(try await mediaRows { try $0.unused(contents.map(\.bytes)) }.compactMap { ContentHash($0) })
  }
}

/// Collects unreferenced uploads at the start and then regularly, until it is stopped.
package struct MediaCollection: Sendable {
  /// The time between two rounds is this part of the age at which uploads are collected, within the bounds below. If
  /// the age is a day, it is an hour.
  private static let roundsPerAge = 24
  private static let intervalSeconds = 1...3600

  private let task: Task<Void, Never>

  package init(of chat: ChatService, logger: Logger) {
    let roundSeconds = chat.media.settings.unreferencedSeconds / Self.roundsPerAge
    let interval = min(max(roundSeconds, Self.intervalSeconds.lowerBound), Self.intervalSeconds.upperBound)
    task = Task {
      while !Task.isCancelled {
        do {
          try await chat.collectMedia()
        } catch {
          if Task.isCancelled { return }
          logger.warning("unreferenced uploads could not be removed", metadata: ["error": "\(error)"])
        }
        try? await Task.sleep(for: .seconds(interval))
      }
    }
  }

  /// Returns when no round is running.
  package func stop() async {
    task.cancel()
    await task.value
  }
}
