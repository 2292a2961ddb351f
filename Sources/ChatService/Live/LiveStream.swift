package import ChatDomain
package import ChatPrimitives

/// The client took too long to take a page. A transport throws this from `send`.
package struct SlowReader: Error, Sendable {
  package init() {}
}

/// Runs a stream for a transport, which only sends pages.
package struct LiveStream: Sendable {
  let chat: ChatService
  let user: UserID
  /// The filter and the size of the pages. The position is that of the client.
  let request: SyncRequest
  let subscription: LiveSubscription
  /// How long to wait after a page could not be read.
  let retryPause: Duration

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
  }

  /// Returns when the stream has ended, with the reason to send to the client.
  /// - Parameters:
  ///   - notice: called when the access token expires soon, with the time.
  ///   - send: sends a page, which always has items, and returns when the client has taken it or little is unsent. It is
  ///     cancelled when the stream ends.
  /// - Throws: `CancellationError`, and errors of `notice` and `send` except `SlowReader`: the client has disconnected.
  package func run(
    notice: @Sendable (Timestamp) async throws -> Void = { _ in },
    send: @escaping @Sendable (SyncPage) async throws -> Void
  ) async throws -> StreamEnding {
    var stream = SyncStream()
    var action = stream.take(.authenticated(since: request.position))
    while true {
      switch action {
      case .read(let position, let target):
        action = stream.take(try await read(after: position, target: target))
      case .readLater(let position, let target):
        let input = try await whileOpen { [retryPause] in
          try await Task.sleep(for: retryPause)
          return SyncStream.Input.readFailed
        }
        action = if case .ended = input { stream.take(input) } else { .read(after: position, target: target) }
      case .send(let page):
        action = stream.take(try await self.send(page, send))
      case .wait:
        action = stream.take(try await nextSignal(notice))
      case .end(let ending):
        return ending
      }
    }
  }

  private func nextSignal(
    _ notice: @Sendable (Timestamp) async throws -> Void
  ) async throws -> SyncStream.Input {
    while true {
      switch try await subscription.next() {
      case .changed(let through): return .woken(through: through)
      case .ended(let ending): return .ended(ending)
      case .expiring(let time): try await notice(time)
      }
    }
  }

  private func read(after position: SyncPosition?, target: LogPosition?) async throws -> SyncStream.Input {
    var request = request
    request.position = position
    request.target = target
    return try await whileOpen { [chat, user, request] in
      do throws(ServiceError) {
        return .read(try await chat.changes(for: user, request))
      } catch {
        switch error {
        case .projectionBehind, .overloaded, .tooManyStreams: return .readFailed
        case .shuttingDown: return .ended(.stopping())
        case .cancelled: throw CancellationError()
        case .rejected, .invalid, .media, .unreadable, .logPoisoned, .failed: return .ended(.failed)
        }
      }
    }
  }

  private func send(
    _ page: SyncPage, _ send: @escaping @Sendable (SyncPage) async throws -> Void
  ) async throws -> SyncStream.Input {
    try await whileOpen {
      do {
        try await send(page)
        return .sent
      } catch is SlowReader {
        return .ended(.tooSlow)
      }
    }
  }

  /// Runs `body`, and cancels it when the stream ends.
  private func whileOpen(
    _ body: @escaping @Sendable () async throws -> SyncStream.Input
  ) async throws -> SyncStream.Input {
    if let ending = subscription.ending { return .ended(ending) }
    let task = Task { try await body() }
    subscription.signals.whenEnded { task.cancel() }
    defer { subscription.signals.whenEnded(nil) }
    let result = await withTaskCancellationHandler {
      await task.result
    } onCancel: {
      task.cancel()
    }
    // What was sent before the end counts; the ending is noticed next.
    if case .success(let input) = result { return input }
    if let ending = subscription.ending { return .ended(ending) }
    return try result.get()
  }
}
