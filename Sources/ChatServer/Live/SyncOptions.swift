import ChatDomain
import ChatPrimitives
import ChatProtocol
import ChatService
import Hummingbird
import HummingbirdCore
import NIOPosix

/// The options of a sync, from the query of a request or from a frame.
struct SyncOptions: Sendable {
  /// A cursor; nil for the current state.
  var since: String?
  var limit: Int?
  var perRoom: Int?
  var rooms: [String]?
  var include: [String]?

  /// Everything, from the current state on.
  init() {}

  /// The options in the query of a request.
  init(_ uri: URI) throws {
    since = try uri.parameter("since")
    limit = try uri.number("limit", atMost: Limits.syncItems)
    perRoom = try uri.number("perRoom", atMost: Limits.syncPerRoom)
    rooms = try uri.list("rooms", atMost: Limits.syncFilterRooms)
    include = try uri.list("include", atMost: Self.types.count)
  }

  /// The options in the first message over a WebSocket or Socket.IO, and otherwise these.
  func overridden(by frame: AuthenticateFrame) -> SyncOptions {
    var options = self
    options.since = frame.since ?? since
    options.perRoom = frame.perRoom ?? perRoom
    options.rooms = frame.rooms ?? rooms
    options.include = frame.include ?? include
    return options
  }

  /// - Throws: `Refusal` if something is out of range, or if the cursor is not of this log.
  func request(_ chat: ChatService) async throws -> SyncRequest {
    let limit = try Self.number("limit", limit, atMost: Limits.syncItems) ?? Limits.syncDefaultItems
    var request = SyncRequest(
      after: nil, limit: limit, perRoom: try Self.number("perRoom", perRoom, atMost: Limits.syncPerRoom),
      filter: try filter())
    if let since { request.position = try await chat.position(ofCursor: since) }
    return request
  }

  private static func number(_ name: String, _ number: Int?, atMost most: Int) throws -> Int? {
    guard let number else { return nil }
    guard (1...most).contains(number) else {
      throw Refusal.invalidQuery("\(name) must be a number from 1 to \(most).")
    }
    return number
  }

  private func filter() throws -> SyncFilter {
    var filter = SyncFilter()
    if let rooms {
      guard rooms.count <= Limits.syncFilterRooms else {
        throw Refusal.invalidQuery("rooms can have at most \(Limits.syncFilterRooms) elements.")
      }
      filter.rooms = Set(
        try rooms.map { text in
          guard let room = RoomID(text) else { throw Refusal.invalidQuery("rooms must be IDs, separated by commas.") }
          return room
        })
    }
    if let include {
      guard include.count <= Self.types.count else {
        throw Refusal.invalidQuery("include can have at most \(Self.types.count) elements.")
      }
      guard include.allSatisfy({ Self.types.contains($0) }) else {
        let types = Self.types.joined(separator: ", ")
        throw Refusal.invalidQuery("include must be types of items or frames, separated by commas: \(types).")
      }
      filter.types = Set(include.compactMap { SyncItemType(rawValue: $0) })
      filter.notices = Set(include.compactMap { LiveNoticeType(rawValue: $0) })
    }
    return filter
  }

  private static let types = SyncItemType.allCases.map(\.rawValue) + LiveNoticeType.allCases.map(\.rawValue)
}

extension AuthenticateFrame {
  /// - Throws: `Refusal` if the message has no token.
  var credentials: Credentials {
    get throws {
      guard let token else { throw Refusal.accessTokenMissing }
      return Credentials(authorization: "Bearer \(token)")
    }
  }

  /// Whether the message has no options of the sync.
  var hasOnlyToken: Bool { since == nil && perRoom == nil && rooms == nil && include == nil }
}

// The digest of a cursor can be on the disk, which the event loops must not wait for.
extension ChatService {
  /// - Throws: `Refusal` if the text is not a cursor, or not one of this log.
  fileprivate func position(ofCursor text: String) async throws -> SyncPosition {
    do {
      return try await NIOThreadPool.singleton.runIfActive { [cursorDigests] in try cursorDigests.position(of: text) }
    } catch let error as SyncCursorError {
      throw error == .invalid ? Refusal.invalidCursor : Refusal.cursorUnknown
    }
  }

  func cursor(at position: SyncPosition) async throws -> String {
    try await NIOThreadPool.singleton.runIfActive { [cursorDigests] in try cursorDigests.cursor(at: position).text }
  }
}
