import ServiceLifecycle

/// Ends the server some time after its event log has failed, so that whatever supervises the process restarts it: a
/// failed log never accepts events again in the same process. Until then, reads continue.
package struct LogFailureExit: Sendable {
  /// How long reads continue after the failure, in seconds.
  package let seconds: Int
  private let failures: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  package init(afterSeconds seconds: Int) {
    self.seconds = seconds
    (failures, continuation) = AsyncStream.makeStream()
  }

  /// The log has failed, and a restart can help.
  package func noteFailure() { continuation.yield() }
}

extension LogFailureExit: Service {
  /// Returns only when the server is told to stop.
  package func run() async throws {
    do {
      try await cancelWhenGracefulShutdown {
        for await _ in failures {
          try await Task.sleep(for: .seconds(seconds))
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
    "the event log failed \(seconds) s ago and accepts no more events in this process; the lines above have the cause"
  }
}
