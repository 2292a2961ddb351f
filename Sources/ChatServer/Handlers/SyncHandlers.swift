import ChatDomain
import ChatPrimitives
import ChatProtocol
import ChatService
import Hummingbird
import SocketProtocols

import struct ChatProtocol.SyncPage

/// What changed for the caller after a cursor.
struct SyncHandlers: Sendable {
  let chat: ChatService
  let tickets: StreamTickets
  let streams: StreamOpening
  let origins: OriginRule

  func page(_ context: HansardRequestContext) async throws -> TypedResponse<SyncPage> {
    let user = try context.user
    let request = try await SyncOptions(context.request.uri).request(chat)
    let page = try await self.page(for: user, request, context)
    let shapes = SyncShapes(page.profiles, session: context.principal?.session, log: chat.logIdentity)
    let cursor = try await chat.cursor(at: page.next)
    return try await JSONBody.page(of: page.items.count) {
      SyncPage(items: page.items.map { shapes.item($0) }, cursor: cursor, more: page.more)
    }
  }

  private func page(
    for user: UserID, _ request: SyncRequest, _ context: HansardRequestContext
  ) async throws -> ChatService.ChangePage {
    guard let seconds = try context.waitSeconds(), seconds > 0 else {
      return try await chat.changes(for: user, request)
    }
    guard let permission = context.caller?.permission else { return try await chat.changes(for: user, request) }
    return try await chat.changes(for: user, request, waiting: seconds, permission: permission)
  }

  // MARK: Streams

  /// A ticket with which the caller opens one stream.
  func createTicket(_ context: HansardRequestContext) async throws -> TypedResponse<StreamTicket> {
    guard let caller = context.caller else { throw Refusal.accessTokenMissing }
    // No event is recorded, so the writer does not check the session.
    try await chat.requireOpenSession(caller.principal)
    let ticket = try tickets.issue(caller.credentials, of: try context.user)
    let expiresAt = context.receivedAt.adding(milliseconds: Limits.streamTicketMilliseconds)
    return try JSONBody.response(StreamTicket(ticket: ticket, expiresAt: expiresAt))
  }

  /// A request that did not become a WebSocket: says why.
  func socket(_ context: HansardRequestContext) async throws -> TypedResponse<SocketMessages> {
    let fields = context.request.headers
    guard fields[.upgrade] != nil else { throw Refusal.upgradeRequired }
    guard origins.allows(context.request.head) else { throw Refusal.originNotAllowed }
    do throws(WebSocketHandshake.Failure) {
      _ = try WebSocketHandshake(of: context.request.head)
    } catch {
      throw error == .unsupportedVersion
        ? Refusal.upgradeRequired : .webSocketMalformed("the handshake is not as in RFC 6455, section 4.2.1")
    }
    // For example while another request of the connection is in flight.
    throw Refusal.webSocketMalformed("the connection cannot become a WebSocket; use a new one")
  }

  /// Server-sent events. `Last-Event-ID` is newer than `since`, with which the client began.
  func stream(_ context: HansardRequestContext) async throws -> TypedResponse<EventStream> {
    guard let caller = context.caller else { throw Refusal.accessTokenMissing }
    var options = try SyncOptions(context.request.uri)
    if let last = context.request.headers[.lastEventID], !last.isEmpty { options.since = last }
    let stream = try streams.open(caller, try await options.request(chat), at: context.address, context.logger)
    return TypedResponse(raw: EventStreamResponse(stream: stream, channel: context.channel).response)
  }
}

extension HansardRequestContext {
  /// How long a sync waits for something to change, in seconds; nil if the query does not have it.
  func waitSeconds() throws -> Int? { try number("wait", from: 0, atMost: Limits.syncWaitSeconds) }
}
