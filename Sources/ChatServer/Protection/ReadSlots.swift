import ChatDomain
import ChatPrimitives
import ChatProtocol
import ChatService
import Hummingbird

/// How a request is handled.
enum ReadClass: Sendable, Hashable {
  /// It changes something, or costs nothing, so it is handled always and at once. A read with a body takes its slot in its
  /// handler, with `handleReceived`.
  case none
  /// It is handled only while its client is connected, and with few others of its user and address at a time.
  case json
  /// It is handled only while its client is connected. It takes no slot, because it waits for something to happen. Its
  /// reads take those of the sync, and the number of a user's streams is limited.
  case waiting
  /// The same as `json`, with slots of its own, so that a slow download does not delay JSON.
  case media

  init(of endpoint: AnyEndpoint) {
    let probes = [Endpoints.health.path, Endpoints.readiness.path]
    let media = [Endpoints.getMedia.path, Endpoints.getThumbnail.path]
    if endpoint.method != .get || probes.contains(endpoint.path) {
      self = .none
    } else if endpoint.path == Endpoints.syncStream.path {
      self = .waiting
    } else {
      self = media.contains(endpoint.path) ? .media : .json
    }
  }

  /// The class of one request of an endpoint of this class.
  func of(_ context: HansardRequestContext, _ endpoint: AnyEndpoint) throws -> ReadClass {
    guard endpoint.path == Endpoints.sync.path, let seconds = try context.waitSeconds(), seconds > 0 else {
      return self
    }
    return .waiting
  }
}

/// Limits the memory, the open files and the work that reads cost. HTTP/2 lets a client request ten thousand pages at
/// once and leave. Only a few reads of each user are handled at a time. The others wait as requests, which take little
/// memory, and are dropped if their client has left. A user who reads slowly, or not at all, delays nobody else. An
/// address has a limit as well, because it may have many users.
struct ReadSlots: Sendable {
  private let json = ReaderSlots(ofUser: Limits.readsOfUser, ofAddress: Limits.readsOfAddress, ofAll: .max)
  private let media: ReaderSlots

  /// - Parameter downloads: the most downloads of media at once, of all users together.
  init(downloads: Int) {
    media = ReaderSlots(
      ofUser: Limits.downloadsOfUser, ofAddress: Limits.downloadsOfAddress, ofAll: downloads)
  }

  func handle(
    _ context: HansardRequestContext, _ readClass: ReadClass, _ body: @escaping @Sendable () async throws -> Response
  ) async throws -> Response {
    switch readClass {
    case .none: try await body()
    case .waiting: try await context.whileClientWaits(body)
    case .json: try await context.whileClientWaits { try await json.respond(to: context, body) }
    case .media: try await context.whileClientWaits { try await media.respond(to: context, body) }
    }
  }

  /// Handles a read with a body, after the body was received: a client that sends slowly must not hold a slot. A command of
  /// a stream has no request of its own whose client could leave.
  func handleReceived(
    _ context: HansardRequestContext, _ body: @escaping @Sendable () async throws -> Response
  ) async throws -> Response {
    if CommandTurn.current != nil { return try await json.respond(to: context, body) }
    return try await handle(context, .json, body)
  }
}

/// Slots for reads of one kind.
struct ReaderSlots: Sendable {
  /// Reads without a token count against their address.
  enum Reader: Hashable, Sendable {
    case user(UserID)
    case address(NetworkAddress?)
  }

  /// The slots that one read holds.
  struct Reservation: Sendable {
    fileprivate let ofReader: AsyncSemaphore<Reader>.Slot
    fileprivate let ofAddress: AsyncSemaphore<NetworkAddress?>.Slot
  }

  private let ofReaders: AsyncSemaphore<Reader>
  /// Taken last. A read that holds one waits for nothing else, so it does not keep one of the shared slots from a read
  /// that could use it.
  private let ofAddresses: AsyncSemaphore<NetworkAddress?>

  init(ofUser: Int, ofAddress: Int, ofAll: Int) {
    ofReaders = AsyncSemaphore(.max, ofUser: ofUser, waitingLimit: Limits.waitingReads)
    ofAddresses = AsyncSemaphore(ofAll, ofUser: ofAddress, waitingLimit: Limits.waitingReads)
  }

  var waitingCount: Int { ofReaders.waitingCount + ofAddresses.waitingCount }

  /// - Parameter timeout: how long to wait for both slots together.
  /// - Throws: `overloaded` if no slot becomes free in time, or if too many reads wait.
  func take(
    for reader: Reader, at address: NetworkAddress?,
    timeout: Duration = .milliseconds(Limits.readTimeoutMilliseconds)
  ) async throws -> Reservation {
    let end = ContinuousClock.now + timeout
    do {
      let ofReader = try await ofReaders.take(for: reader, timeout: timeout)
      let rest = max(.zero, ContinuousClock.now.duration(to: end))
      return Reservation(ofReader: ofReader, ofAddress: try await ofAddresses.take(for: address, timeout: rest))
    } catch is TooManyWaiting {
      throw ServiceError.overloaded
    }
  }

  /// - Throws: what `take` and the body throw.
  func respond(to context: HansardRequestContext, _ body: () async throws -> Response) async throws -> Response {
    let address = context.address?.network
    let reader = context.principal?.user.map { Reader.user($0) } ?? .address(address)
    let reservation = try await take(for: reader, at: address)
    var response = try await body()
    let whole = response.body
    // Held until the client has read the response; for a short one, until it is written.
    response.body = ResponseBody(contentLength: whole.contentLength) { writer in
      try await whole.write(writer)
      withExtendedLifetime(reservation) {}
    }
    return response
  }
}
