import ChatDomain
package import ChatPrimitives

/// What a stream gives its transport to send.
package enum StreamFrame: Sendable {
  /// It always has items.
  case page(SyncPage)
  case typing(TypingNotice)
  case presence(PresenceNotice)
  /// The access token expires at this time, unless the client renews it.
  case expiring(at: Timestamp)
  /// Nothing was sent for a while.
  case heartbeat
  /// The last frame.
  case ended(StreamEnding)
}

extension StreamFrame {
  init(_ notice: LiveNotice) {
    switch notice {
    case .typing(let notice): self = .typing(notice)
    case .presence(let notice): self = .presence(notice)
    }
  }
}

/// The client took too long to take what was sent, or too much is unsent.
package struct SlowReader: Error, Sendable {
  package init() {}
}

/// Runs a stream for a transport, which sends one frame after the other. A slow client gets fewer pages, each with all that is
/// new by then, so nothing piles up.
package struct LiveStream: Sendable {
  private let chat: ChatService
  private let user: UserID
  /// The filter and the size of the pages. The position is that of the client.
  private let request: SyncRequest
  package let subscription: LiveSubscription
  /// How long to wait after a page could not be read.
  private let retryPause: Duration
  private var stream = SyncStream()
  /// What happened since the last frame was returned; nil if the stream still waits.
  private var happened: SyncStream.Input?
  /// What to do when the stream's turn to read comes; nil if it does not wait for one.
  private var pendingRead: SyncStream.Action?
  /// Notices that were taken and not returned yet, the next one last.
  private var notices: [LiveNotice] = []

  /// - Parameter subscription: of the user. Its permission is that of the stream.
  package init(_ chat: ChatService, for user: UserID, _ request: SyncRequest, _ subscription: LiveSubscription) {
    self.init(
      chat, for: user, request, subscription, retryPause: .milliseconds(Limits.streamRetryMilliseconds))
  }

  init(
    _ chat: ChatService, for user: UserID, _ request: SyncRequest, _ subscription: LiveSubscription,
    retryPause: Duration
  ) {
    self.chat = chat
    self.user = user
    self.request = request
    self.subscription = subscription
    self.retryPause = retryPause
    happened = .authenticated(since: request.position)
    subscription.show(request.filter)
  }

  /// Waits for the next frame. Call it when the client has taken most of the previous frame. If the task is cancelled, so is
  /// the subscription.
  package mutating func next() async throws(CancellationError) -> StreamFrame {
    let subscription = subscription
    while true {
      if let frame = try await nextNow() { return frame }
      let waiting = self
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          waiting.whenReady { continuation.resume() }
        }
      } onCancel: {
        subscription.cancel()
      }
    }
  }

  /// The same, but returns nil if there is no frame now, or if the stream must wait for its turn to read. Then call
  /// `whenReady`.
  package mutating func nextNow() async throws(CancellationError) -> StreamFrame? {
    let frame = try await frameNow()
    if frame != nil { subscription.sends() }
    return frame
  }

  /// Calls `body` once when `nextNow` must be called again, at once if that is already the case. No task waits
  /// meanwhile. A stream enters the queue for its turn to read only here: before, its transport may be waiting for a
  /// slow client, which must not hold a slot.
  package func whenReady(_ body: @escaping @Sendable () -> Void) {
    if pendingRead != nil { subscription.waitForTurn(in: chat.syncReads) }
    subscription.whenSignalled(body)
  }

  private mutating func frameNow() async throws(CancellationError) -> StreamFrame? {
    var turn = subscription.takeTurn()
    var action = pendingRead ?? happened.map { stream.take($0) } ?? .wait
    (pendingRead, happened) = (nil, nil)
    while true {
      switch action {
      case .read(let position, let target):
        if let ending = subscription.ending {
          action = stream.take(.ended(ending))
          continue
        }
        if subscription.isCancelled { throw CancellationError() }
        let own = turn ?? chat.syncReads.takeIfFree(for: user).map { .success($0) }
        turn = nil
        switch own {
        case .success(let slot): action = stream.take(try await read(after: position, target: target, in: slot))
        case .failure: action = stream.take(.readFailed)
        case nil:
          pendingRead = action
          return nil
        }
      case .readLater(let position, let target):
        try await pause()
        action = .read(after: position, target: target)
      case .send(let page):
        happened = .sent
        return .page(page)
      case .wait:
        if subscription.ending == nil, let notice = notices.popLast() { return StreamFrame(notice) }
        switch try subscription.take() {
        case nil: return nil
        case .changed(let through): action = stream.take(.woken(through: through))
        case .supplied(let pages): action = take(pages)
        case .ended(let ending): action = stream.take(.ended(ending))
        case .notices(let new): notices = new.reversed()
        case .expiring(let time): return .expiring(at: time)
        case .heartbeat: return .heartbeat
        }
      case .end(let ending):
        return .ended(ending)
      }
    }
  }

  private mutating func take(_ pages: [LivePage]) -> SyncStream.Action {
    if case .idle(let position) = stream.state, let page = request.page(of: pages, after: position) {
      return stream.take(.supplied(page))
    }
    return stream.take(.woken(through: pages.last?.through ?? .origin))
  }

  private func read(
    after position: SyncPosition?, target: LogPosition?, in slot: AsyncSemaphore<UserID>.Slot
  ) async throws(CancellationError) -> SyncStream.Input {
    var request = request
    request.position = position
    request.target = target
    // A read takes a few milliseconds, so it is finished even if the stream ends meanwhile. It has its own task, which
    // nobody cancels.
    let reading = Task { [chat, user, request] () -> SyncStream.Input? in
      do throws(ServiceError) {
        return .read(try await chat.changes(for: user, request, in: slot))
      } catch {
        switch error {
        case .projectionBehind, .overloaded, .tooManyStreams: return .readFailed
        case .shuttingDown: return .ended(.stopping())
        case .cancelled: return nil
        case .rejected, .malformed, .invalid, .media, .unreadable, .logPoisoned, .failed: return .ended(.failed)
        }
      }
    }
    if let input = await reading.value { return input }
    guard let ending = subscription.ending else { throw CancellationError() }
    return .ended(ending)
  }

  /// Waits before the next try, or until the stream ends.
  private func pause() async throws(CancellationError) {
    do {
      try await subscription.whileOpen { [retryPause] in try await Task.sleep(for: retryPause) }
    } catch {
      throw CancellationError()
    }
  }
}
