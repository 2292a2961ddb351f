/// Reads the clock regularly, so that a jump is noticed, reported and timed even on an idle server, and saves the
/// settled time.
package struct ClockWatch: Sendable {
  private static let interval = Duration.seconds(10)

  private let task: Task<Void, Never>

  package init(_ clock: CheckedClock) {
    task = Task {
      while !Task.isCancelled {
        await onBlockingThread { clock.keepSettled() }
        try? await Task.sleep(for: Self.interval)
      }
      // Saves the last change for the next start.
      await onBlockingThread { clock.keepSettled() }
    }
  }

  package func stop() async {
    task.cancel()
    await task.value
  }
}
