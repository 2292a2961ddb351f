/// Reads the clock at intervals, so that a jump is noticed, reported and timed on an idle server too.
package struct ClockWatch: Sendable {
  private static let interval = Duration.seconds(10)

  private let task: Task<Void, Never>

  package init(_ clock: CheckedClock) {
    task = Task {
      while !Task.isCancelled {
        _ = clock.now
        try? await Task.sleep(for: Self.interval)
      }
    }
  }

  package func stop() async {
    task.cancel()
    await task.value
  }
}
