import ChatPrimitives
import ChatProjections
import ChatPush
import ChatService
import CoreMetrics
import EventLog
import NIOPosix
import ServerMetrics

/// Sets the metrics of what the server keeps anyway: positions, files, and the states of push and erasure. Called before each
/// scrape.
struct StatusMetrics: Sendable {
  /// The metrics of one view. The names of views are those of `Projections.all` and of the outbox.
  private struct ViewMeters: Sendable {
    let position: Meter
    let lag: Meter
    let readable: Meter
    let fileBytes: Meter
    let walBytes: Meter
    let checkpointsBeside: SampledTotal
    let checkpointsByWriter: SampledTotal
    let checkpointsBusy: SampledTotal

    init(_ name: String, _ factory: any MetricsFactory) {
      let view = ("view", name)
      position = factory.meter(.viewPosition, view)
      lag = factory.meter(.viewLag, view)
      readable = factory.meter(.viewReadable, view)
      fileBytes = factory.meter(.viewFileBytes, view)
      walBytes = factory.meter(.viewWALBytes, view)
      checkpointsBeside = SampledTotal(factory.floatingPointCounter(.checkpoints, view, ("by", "background")))
      checkpointsByWriter = SampledTotal(factory.floatingPointCounter(.checkpoints, view, ("by", "writer")))
      checkpointsBusy = SampledTotal(factory.floatingPointCounter(.checkpointsBusy, view))
    }

    func set(_ status: ProjectionStatus, head: LogPosition) {
      position.set(Double(status.position.value))
      lag.set(Double(head.distance(from: status.position)))
      readable.set(status.isReadable ? 1.0 : 0.0)
    }

    func set(_ storage: ViewStorage) {
      fileBytes.set(Int64(storage.fileBytes))
      walBytes.set(Int64(storage.walBytes))
      checkpointsBeside.set(Double(storage.checkpointsBeside))
      checkpointsByWriter.set(Double(storage.checkpointsByWriter))
      checkpointsBusy.set(Double(storage.checkpointsIncomplete))
    }
  }

  private let chat: ChatService
  private let log: EmbeddedLog
  private let push: PushService?
  private let factory: any MetricsFactory
  private let views: [String: ViewMeters]
  private let queue: Meter
  private let position: Meter
  private let poisoned: Meter
  private let segmentsToSeal: Meter
  private let subscriptions: Meter
  private let pushWaiting: Meter
  private let erasure: ErasureService
  private let erasuresRunning: Meter
  private let erasuresHeld: Meter
  private let erasureCompletedAt: Meter

  init(
    _ chat: ChatService, _ log: EmbeddedLog, _ push: PushService?, _ erasure: ErasureService,
    _ factory: any MetricsFactory
  ) {
    self.chat = chat
    self.log = log
    self.push = push
    self.erasure = erasure
    self.factory = factory
    let names = Projections.all.map { $0.name } + (push == nil ? [] : [PushProjection.name])
    views = Dictionary(uniqueKeysWithValues: names.map { ($0, ViewMeters($0, factory)) })
    queue = factory.meter(.writerQueue)
    position = factory.meter(.logPosition)
    poisoned = factory.meter(.logPoisoned)
    segmentsToSeal = factory.meter(.segmentsToSeal)
    subscriptions = factory.meter(.subscriptions)
    pushWaiting = factory.meter(.pushWaiting)
    erasuresRunning = factory.meter(.erasuresPending, ("state", "running"))
    erasuresHeld = factory.meter(.erasuresPending, ("state", "held"))
    erasureCompletedAt = factory.meter(.erasureCompletedAt)
  }

  func sample() async {
    let status = chat.status
    queue.set(Int64(status.queuedCommands))
    position.set(Double(status.head.value))
    poisoned.set(status.isPoisoned ? 1.0 : 0.0)
    subscriptions.set(Int64(chat.live.streamCount))
    let pushStatus = push?.status
    let statuses = status.readModels + status.optional + [pushStatus?.outbox].compactMap { $0 }
    for view in statuses { views[view.name]?.set(view, head: status.head) }
    for provider in pushStatus?.providers ?? [] { set(provider) }
    // An outbox that cannot be read is reported by its view.
    if let waiting = try? await push?.waiting() { pushWaiting.set(Int64(waiting)) }
    if let erasures = try? await chat.erasureStatus() { set(erasures) }
    for space in chat.storage.status.spaces {
      factory.meter(.freeBytes, ("directory", space.part.rawValue)).set(Double(space.freeBytes))
    }
    try? await NIOThreadPool.singleton.runIfActive { sampleFiles() }
  }

  /// Reads the file system.
  private func sampleFiles() {
    let storages = chat.readModels.storages + [push?.storage].compactMap { $0 }
    for storage in storages { views[storage.name]?.set(storage) }
    if let segments = try? log.segmentsToSeal() { segmentsToSeal.set(Int64(segments)) }
  }

  private func set(_ erasures: ErasureStatus) {
    let held = min(erasure.heldCount, erasures.pending)
    erasuresHeld.set(Int64(held))
    erasuresRunning.set(Int64(erasures.pending - held))
    erasureCompletedAt.set(Double(erasures.lastCompleted?.milliseconds ?? 0) / 1000)
  }

  private func set(_ provider: PushProviderStatus) {
    for state in [PushProviderStatus.State.running, .paused, .stopped] {
      factory.meter(.pushProviderState, ("provider", provider.name), ("state", state.rawValue))
        .set(provider.state == state ? 1.0 : 0.0)
    }
  }
}
