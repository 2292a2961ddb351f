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

/// Bounds the memory and the work that reads of one address cost. HTTP/2 lets a client ask for ten thousand pages at once
/// and leave: only a few are worked on at a time, the others wait as the little that a request is, and those whose client
/// has left are dropped.
struct ReadSlots: Sendable {
  private let slots = Slots<NetworkAddress?>(
    .max, ofUser: Limits.readsOfAddress, waitingLimit: Limits.waitingReads)

  func handle(
    _ exchange: Exchange, _ reading: Reading, _ body: @escaping @Sendable () async throws -> Response
  ) async throws -> Response {
    switch reading {
    case .none: try await body()
    case .unbounded: try await exchange.whileClientWaits(body)
    case .bounded: try await exchange.whileClientWaits { try await inSlot(of: exchange, body) }
    }
  }

  private func inSlot(of exchange: Exchange, _ body: () async throws -> Response) async throws -> Response {
    let slot: Slots<NetworkAddress?>.Slot
    do {
      slot = try await slots.take(for: exchange.address?.network)
    } catch is SlotsAreFull {
      throw ServiceError.overloaded
    }
    var response = try await body()
    let whole = response.body
    let channel = exchange.channel
    // Held until the client has taken all but the last piece of the response, which is in memory until then.
    response.body = ResponseBody(contentLength: whole.contentLength) { writer in
      try await whole.write(PieceWriter(writer, channel))
      withExtendedLifetime(slot) {}
    }
    return response
  }
}
