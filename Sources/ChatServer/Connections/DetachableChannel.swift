import NIOCore
import Synchronization

/// The channel of a connection as Hummingbird has it. Hummingbird has a task for each connection, which takes many
/// kilobytes while it waits for the next request or for the end. When the connection becomes a stream, it is detached:
/// from then on the channel looks closed to that task, so that the task ends.
///
/// As its last act the task closes the connection, once. NIO does that in the pipeline and not through this object, so the
/// last handler of the stream must not let it through: see `ClosesOfTask`.
final class DetachableChannel: Channel {
  private let base: any Channel
  private let streams: DetachedStreams
  private let isDetached = Atomic(false)

  init(_ base: any Channel, _ streams: DetachedStreams) {
    self.base = base
    self.streams = streams
  }

  /// Must be called on the event loop. Afterwards the input must be closed for the handlers of Hummingbird.
  func detach() {
    streams.add(base)
    isDetached.store(true, ordering: .sequentiallyConsistent)
  }

  var closeFuture: EventLoopFuture<Void> {
    isDetached.load(ordering: .sequentiallyConsistent) ? eventLoop.makeSucceededVoidFuture() : base.closeFuture
  }

  func close(mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if isDetached.load(ordering: .sequentiallyConsistent) {
      promise?.succeed()
    } else {
      base.close(mode: mode, promise: promise)
    }
  }

  // MARK: The same as of the connection

  var eventLoop: any EventLoop { base.eventLoop }
  var allocator: ByteBufferAllocator { base.allocator }
  var pipeline: ChannelPipeline { base.pipeline }
  var localAddress: SocketAddress? { base.localAddress }
  var remoteAddress: SocketAddress? { base.remoteAddress }
  var parent: (any Channel)? { base.parent }
  var isWritable: Bool { base.isWritable }
  var isActive: Bool { base.isActive }
  var _channelCore: any ChannelCore { base._channelCore }
  var syncOptions: (any NIOSynchronousChannelOptions)? { base.syncOptions }

  func setOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> EventLoopFuture<Void> {
    base.setOption(option, value: value)
  }

  func getOption<Option: ChannelOption>(_ option: Option) -> EventLoopFuture<Option.Value> {
    base.getOption(option)
  }
}

/// Tells the closes of Hummingbird's task from others, in the last handler of a detached stream.
struct ClosesOfTask {
  private var isExpected = false

  /// The connection was detached.
  mutating func expect() { isExpected = true }

  /// - Returns: whether the connection must not be closed. It does not matter which of two closes of the whole connection
  ///   came from the task: the other one closes it.
  mutating func includes(_ mode: CloseMode) -> Bool {
    guard isExpected else { return false }
    switch mode {
    case .input, .output: return true
    case .all:
      isExpected = false
      return true
    }
  }
}
