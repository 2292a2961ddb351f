import ChatDomain
import ChatPrimitives
import ChatProtocol
import ChatService
import Logging
import NIOCore
import NIOPosix

/// Opens streams for clients, for every transport.
struct StreamOpening: Sendable {
  let chat: ChatService
  let responses: ResponseBudget
  let metrics: StreamMetrics

  /// - Throws: `Refusal` or `ServiceError` if the caller has too many streams, or if the permission has ended.
  func open(
    _ caller: Caller, _ request: SyncRequest, at address: NetworkAddress?, _ logger: Logger
  ) throws -> OpenStream {
    guard let permission = caller.permission else { throw Refusal.actingUserRequired }
    let subscription: LiveSubscription
    do throws(StreamRefusal) {
      subscription = try chat.live.subscribe(permission)
    } catch {
      switch error {
      case .tooManyOfUser, .tooManyOfDevice: throw ServiceError.tooManyStreams
      case .ended(let ending): throw ending.refusal
      }
    }
    return OpenStream(
      frames: LiveStream(chat, for: permission.user, request, subscription), caller: caller,
      encoder: SyncPageEncoder(chat: chat, session: permission.session), address: address, responses: responses,
      metrics: metrics, logger: logger)
  }
}

/// A stream of a client.
struct OpenStream: Sendable {
  var frames: LiveStream
  let caller: Caller
  let encoder: SyncPageEncoder
  let address: NetworkAddress?
  private let responses: ResponseBudget
  let metrics: StreamMetrics
  let logger: Logger

  init(
    frames: LiveStream, caller: Caller, encoder: SyncPageEncoder, address: NetworkAddress?, responses: ResponseBudget,
    metrics: StreamMetrics, logger: Logger
  ) {
    self.frames = frames
    self.caller = caller
    self.encoder = encoder
    self.address = address
    self.responses = responses
    self.metrics = metrics
    self.logger = logger
  }

  var subscription: LiveSubscription { frames.subscription }

  /// Charges unsent bytes to the address of the client until the result is released.
  /// - Throws: `SlowReader` if the clients at the address take too little of what they get.
  func hold(_ bytes: Int) throws(SlowReader) -> KeyedLimit<NetworkAddress?>.Reservation? {
    try responses.hold(bytes, of: address, logger)
  }
}

/// Makes the object of the contract from a page.
struct SyncPageEncoder: Sendable {
  let chat: ChatService
  /// The session of the caller, which is marked in its sessions.
  let session: SessionID?

  /// - Returns: the object as JSON, and its cursor. The JSON has no line breaks.
  func encode(_ page: ChatService.ChangePage) async throws -> (json: ByteBuffer, cursor: String) {
    if page.items.count <= Limits.itemsEncodedAtOnce, let cursor = chat.cursorDigests.keptCursor(at: page.next) {
      return (try encode(page, cursor.text), cursor.text)
    }
    // The digest of a cursor can be on the disk, and a page can be long.
    return try await NIOThreadPool.singleton.runIfActive {
      let cursor = try chat.cursorDigests.cursor(at: page.next).text
      return (try encode(page, cursor), cursor)
    }
  }

  private func encode(_ page: ChatService.ChangePage, _ cursor: String) throws -> ByteBuffer {
    let shapes = SyncShapes(page.profiles, session: session, log: chat.logIdentity)
    var json = ByteBuffer(string: #"{"items":["#)
    for (index, item) in page.items.enumerated() {
      if index > 0 { json.writeString(",") }
      let encode = { try JSONWriter.bytes(of: shapes.item(item)) }
      json.writeBytes(try item.encoded?.json(encode) ?? encode())
    }
    json.writeString(#"],"cursor":"\#(cursor)","more":\#(page.more)}"#)
    return json
  }
}

extension Caller {
  /// Nil for a service that acts for itself.
  var permission: LivePermission? {
    principal.user.map { user in
      LivePermission(user: user, session: principal.session, device: principal.device, expiresAt: expiresAt)
    }
  }
}
