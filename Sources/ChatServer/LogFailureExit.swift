import ServiceLifecycle

/// Ends the server some time after its event log has failed, so that whatever supervises the process restarts it: a
/// failed log never accepts events again in the same process. Until then, reads continue. While the disk is full they
/// continue for longer, because a server that starts on a full disk fails again, or does not start.
package struct LogFailureExit: Sendable {
  /// How often it looks whether the disk is still full.
  private static let lookSeconds = 1

  /// How long reads continue after the failure, in seconds.
  package let seconds: Int
  private let failures: AsyncStream<@Sendable () -> Bool>
  private let continuation: AsyncStream<@Sendable () -> Bool>.Continuation

  package init(afterSeconds seconds: Int) {
    self.seconds = seconds
    (failures, continuation) = AsyncStream.makeStream()
  }

  /// The log has failed, and a restart can help once `isFull` returns false.
  package func noteFailure(while isFull: @escaping @Sendable () -> Bool) { continuation.yield(isFull) }
}

extension LogFailureExit: Service {
  /// Returns only when the server is told to stop.
  package func run() async throws {
    do {
      try await cancelWhenGracefulShutdown {
        for await isFull in failures {
          try await Task.sleep(for: .seconds(seconds))
          while isFull() { try await Task.sleep(for: .seconds(Self.lookSeconds)) }
          throw EventLogFailed(seconds: seconds)
        }
      }
    } catch let error as EventLogFailed {
      throw error
    } catch {
      guard Task.isShuttingDownGracefully else { throw error }
    }
  }
}

/// Why the server ended by itself.
package struct EventLogFailed: Error, Hashable, CustomStringConvertible {
  package let seconds: Int

  package var description: String {
    "the event log failed at least \(seconds) s ago and accepts no more events in this process; the lines above have the cause"
  }
}
