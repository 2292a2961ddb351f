import Dispatch
import Foundation
import Glibc
import Synchronization

/// Appends each notification to a file as a line of JSON, for tests and for operators who deliver notifications by
/// other means.
///
/// Notifications that arrive together are written and synced together. After a crash, the file can contain a
/// notification twice, with the same delivery key.
package final class FileSender: PushNotificationSender {
  /// The file contains push tokens, so only the owner may read it.
  private static let fileMode: mode_t = 0o600

  private struct Waiting {
    let line: [UInt8]
    let done: CheckedContinuation<SendResult, Never>
  }

  private struct State {
    var waiting: [Waiting] = []
    var isWriting = false
    var isClosed = false
  }

  private let path: String
  private let descriptor: Int32
  private let state = Mutex(State())
  /// Writes and syncs the file, outside the cooperative thread pool.
  private let queue = DispatchQueue(label: "push-file")

  /// Opens the file, or creates it. If a crash has left an incomplete line, adds a line end, so that the next line is
  /// separate.
  package init(path: String) throws(FileSenderError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, Self.fileMode)
    guard descriptor >= 0 else { throw FileSenderError(path: path, what: "cannot be opened") }
    self.path = path
    self.descriptor = descriptor
    let size = lseek(descriptor, 0, SEEK_END)
    var last = UInt8(ascii: "\n")
    if size > 0, pread(descriptor, &last, 1, size - 1) == 1, last != UInt8(ascii: "\n") {
      guard Self.write([UInt8(ascii: "\n")], to: descriptor) else {
        let error = FileSenderError(path: path, what: "cannot be written")
        Glibc.close(descriptor)
        throw error
      }
    }
  }

  package func send(_ notification: PushNotification) async -> SendResult {
    let line: [UInt8]
    do {
      line = try PushNotificationBody(notification).bytes() + [UInt8(ascii: "\n")]
    } catch {
      return .failed(reason: "\(error)")
    }
    return await withCheckedContinuation { done in
      let mustStart = state.withLock { state in
        state.waiting.append(Waiting(line: line, done: done))
        defer { state.isWriting = true }
        return !state.isWriting
      }
      if mustStart { queue.async { self.writeAll() } }
    }
  }

  package func close() async {
    let isFirst = state.withLock { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
    if isFirst { queue.sync { _ = Glibc.close(descriptor) } }
  }

  // MARK: - Used on the queue

  private func writeAll() {
    while let batch = nextBatch() {
      let result = write(batch)
      for waiting in batch { waiting.done.resume(returning: result) }
    }
  }

  private func nextBatch() -> [Waiting]? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.isWriting = false
        return nil
      }
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  private func write(_ batch: [Waiting]) -> SendResult {
    guard Self.write(batch.flatMap(\.line), to: descriptor), fdatasync(descriptor) == 0 else {
      let error = FileSenderError(path: path, what: "cannot be written")
      // A part of a line may have been written, so this ends it. If that fails, too, the next start does it.
      _ = Self.write([UInt8(ascii: "\n")], to: descriptor)
      return .failed(reason: error.description)
    }
    return .delivered(response: "written")
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { return false }
      rest = rest.dropFirst(written)
    }
    return true
  }
}

/// The notification file cannot be used.
package struct FileSenderError: Error, Sendable, CustomStringConvertible {
  package let path: String
  package let reason: String

  init(path: String, what: String) {
    self.path = path
    reason = "\(what): \(String(cString: strerror(errno)))"
  }

  package var description: String { "\(path) \(reason)" }
}
