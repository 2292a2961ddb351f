/// Measures the disk space regularly, so that a full disk is reported before a write fails.
package struct StorageWatch: Sendable {
  private static let interval = Duration.seconds(10)

  private let task: Task<Void, Never>

  package init(_ space: StorageSpace) {
    task = Task {
      while !Task.isCancelled {
        try? await Task.sleep(for: Self.interval)
        if !Task.isCancelled { await onBlockingThread { space.measure() } }
      }
    }
  }

  package func stop() async {
    task.cancel()
    await task.value
  }
}
