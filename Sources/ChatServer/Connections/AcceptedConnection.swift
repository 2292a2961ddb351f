import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// A connection that is set up, on its way to the task that handles it. A server that is cancelled at this moment drops
/// it. SwiftNIO ends the process when the writer of a dropped connection was not finished, so the connection is closed
/// and then handled as any closed one, which finishes the writer.
final class AcceptedConnection<Base: ServerChildChannel>: ServerChildChannelValue {
  private let base: Base
  private let value: Base.Value
  private let logger: Logger
  private let isHandled = Atomic(false)

  init(_ value: Base.Value, of base: Base, logger: Logger) {
    self.base = base
    self.value = value
    self.logger = logger
  }

  deinit {
    guard !isHandled.load(ordering: .relaxed) else { return }
    // In a task, because the server drops the connection while it holds a lock that closing may need.
    Task { [base, value, logger] in
      value.channel.close(promise: nil)
      await base.handle(value: value, logger: logger)
    }
  }

  var channel: any Channel { value.channel }

  func handle() async {
    isHandled.store(true, ordering: .relaxed)
    await base.handle(value: value, logger: logger)
  }
}
