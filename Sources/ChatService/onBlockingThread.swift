import Dispatch

/// Does work on a thread that may block, and returns when it is done.
func onBlockingThread(_ work: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    DispatchQueue.global().async {
      work()
      continuation.resume()
    }
  }
}
