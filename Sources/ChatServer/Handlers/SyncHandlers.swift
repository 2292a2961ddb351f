import ChatDomain
import ChatPrimitives
import ChatProtocol
import ChatService
import Hummingbird
import NIOPosix

import struct ChatProtocol.SyncPage

/// What changed for the caller after a cursor.
struct SyncHandlers: Sendable {
  let chat: ChatService

  func page(_ context: HansardRequestContext) async throws -> TypedResponse<SyncPage> {
    let user = try context.user
    var request = SyncRequest(
      after: nil, limit: try context.number("limit", atMost: Limits.syncItems) ?? Limits.syncDefaultItems,
      perRoom: try context.number("perRoom", atMost: Limits.syncPerRoom), filter: try Self.filter(context))
    if let since = try context.query("since") { request.position = try await position(of: since) }
    let page = try await self.page(for: user, request, context)
    let shapes = SyncShapes(page.nicknames, session: context.principal?.session, log: chat.logIdentity)
    let cursor = try await cursor(at: page.next)
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
    let permission = LivePermission(user: user, session: context.principal?.session, device: context.principal?.device)
    return try await chat.changes(for: user, request, waiting: seconds, permission: permission)
  }

  private static func filter(_ context: HansardRequestContext) throws -> SyncFilter {
    var filter = SyncFilter()
    if let texts = try context.list("rooms", atMost: Limits.syncFilterRooms) {
      filter.rooms = Set(
        try texts.map { text in
          guard let room = RoomID(text) else { throw Refusal.invalidQuery("rooms must be IDs, separated by commas.") }
          return room
        })
    }
    if let names = try context.list("include", atMost: SyncItemType.allCases.count) {
      filter.types = Set(
        try names.map { name in
          guard let type = SyncItemType(rawValue: name) else {
            throw Refusal.invalidQuery("include must be types of items, separated by commas: \(Self.types).")
          }
          return type
        })
    }
    return filter
  }

  private static let types = SyncItemType.allCases.map(\.rawValue).joined(separator: ", ")

  // MARK: Cursors

  // The digest of a cursor can be on the disk, which the event loops must not wait for.

  private func position(of text: String) async throws -> SyncPosition {
    do {
      return try await NIOThreadPool.singleton.runIfActive { [chat] in try chat.cursorDigests.position(of: text) }
    } catch let error as SyncCursorError {
      throw error == .invalid ? Refusal.invalidCursor : Refusal.cursorUnknown
    }
  }

  private func cursor(at position: SyncPosition) async throws -> String {
    try await NIOThreadPool.singleton.runIfActive { [chat] in try chat.cursorDigests.cursor(at: position).text }
  }
}

extension HansardRequestContext {
  /// How long a sync waits for something to change, in seconds; nil if the query does not have it.
  func waitSeconds() throws -> Int? { try number("wait", from: 0, atMost: Limits.syncWaitSeconds) }

  /// The elements of a query parameter, separated by commas; nil if the query does not have it.
  fileprivate func list(_ name: String, atMost most: Int) throws -> [String]? {
    guard let text = try query(name) else { return nil }
    let elements = text.split(separator: ",", maxSplits: most, omittingEmptySubsequences: false)
    guard elements.count <= most else { throw Refusal.invalidQuery("\(name) can have at most \(most) elements.") }
    return elements.map { String($0) }
  }
}
