import ChatDomain
import ChatPrimitives
import ChatProtocol
import ChatService
import Hummingbird

/// How a request is worked on.
enum Reading: Sendable, Hashable {
  /// It changes something, or costs nothing: always and at once.
  case none
  /// As long as its client is there.
  case unbounded
  /// As long as its client is there, and with few others of its address at once.
  case bounded

  init(of endpoint: Endpoint) {
    let probes = [Endpoints.health.path, Endpoints.readiness.path]
    let media = [Endpoints.getMedia.path, Endpoints.getThumbnail.path]
    if endpoint.method != .get || probes.contains(endpoint.path) {
      self = .none
    } else {
      // Media have slots of their own, and are sent piece by piece.
      self = media.contains(endpoint.path) ? .unbounded : .bounded
    }
  }
}

/// Bounds the memory and the work that reads cost. HTTP/2 lets a client ask for ten thousand pages at once and leave: only
/// a few of each user are worked on at a time, the others wait as the little that a request is, and those whose client has
/// left are dropped. A user who reads slowly, or nothing, holds up nobody else; an address has a limit beside it, because
/// it may have many users.
struct ReadSlots: Sendable {
  /// Reads without a token count for their address.
  private enum Reader: Hashable, Sendable {
    case user(UserID)
    case address(NetworkAddress?)
  }

  private let ofReaders = Slots<Reader>(.max, ofUser: Limits.readsOfUser, waitingLimit: Limits.waitingReads)
  private let ofAddresses = Slots<NetworkAddress?>(
    .max, ofUser: Limits.readsOfAddress, waitingLimit: Limits.waitingReads)

  func handle(
    _ exchange: Exchange, _ reading: Reading, _ body: @escaping @Sendable () async throws -> Response
  ) async throws -> Response {
    switch reading {
    case .none: try await body()
    case .unbounded: try await exchange.whileClientWaits(body)
    case .bounded: try await exchange.whileClientWaits { try await inSlots(of: exchange, body) }
    }
  }

  private func inSlots(of exchange: Exchange, _ body: () async throws -> Response) async throws -> Response {
    let address = exchange.address?.network
    let reader = exchange.principal?.user.map { Reader.user($0) } ?? .address(address)
    let patience = Duration.milliseconds(Limits.readPatienceMilliseconds)
    let ofReader: Slots<Reader>.Slot
    let ofAddress: Slots<NetworkAddress?>.Slot
    do {
      ofReader = try await ofReaders.take(for: reader, patience: patience)
      ofAddress = try await ofAddresses.take(for: address, patience: patience)
    } catch is SlotsAreFull {
      throw ServiceError.overloaded
    }
    var response = try await body()
    let whole = response.body
    let channel = exchange.channel
    // Held until the client has taken all but the last piece of the response, which is in memory until then.
    response.body = ResponseBody(contentLength: whole.contentLength) { writer in
      try await whole.write(PieceWriter(writer, channel))
      withExtendedLifetime((ofReader, ofAddress)) {}
    }
    return response
  }
}
