import ChatDomain
import ChatPrimitives
import ChatProtocol
import ChatService
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Sends plain messages without the router and without tasks, with the same checks in the same order. Whatever is not the
/// plain good case is left to the router: each step returns nil, and what was taken from the limits is given back.
///
/// Decision 0036 gives the reasons. A class, so that a connection holds one reference instead of a copy of nine.
final class DirectPath: Sendable {
  /// A message from its request to its response.
  struct Send: Sendable {
    let request: PlainSend
    let user: UserID
    let principal: Principal
    /// The other end of the connection.
    let peer: NetworkAddress?
    let start: ContinuousClock.Instant
    fileprivate let taken: RateLimiter.Taken
    fileprivate let body: BodyCharge
    /// What is sent; nil before `submit`.
    fileprivate var message: NewMessage?
    fileprivate var details: MessageDetails?
    /// Whether it is only a text, without characters that JSON escapes.
    fileprivate var isOnlyText = false
  }

  let chat: ChatService
  let authenticator: Authenticator
  let limiter: RateLimiter
  let proxies: TrustedProxies
  let bodies: BodyBudget
  let crossOrigin: CrossOrigin?
  let metrics: HTTPMetrics
  let accessLog: AccessLog?
  let logger: Logger
  let inboxes = DirectInboxes()
  private let date = DateField()

  init(
    chat: ChatService, authenticator: Authenticator, limiter: RateLimiter, proxies: TrustedProxies, bodies: BodyBudget,
    crossOrigin: CrossOrigin?, metrics: HTTPMetrics, accessLog: AccessLog?, logger: Logger
  ) {
    self.chat = chat
    self.authenticator = authenticator
    self.limiter = limiter
    self.proxies = proxies
    self.bodies = bodies
    self.crossOrigin = crossOrigin
    self.metrics = metrics
    self.accessLog = accessLog
    self.logger = logger
    chat.whenReplied { [inboxes] in inboxes.deliver() }
  }

  // MARK: Before the writer

  /// Checks who sends, and counts the request.
  /// - Parameters:
  ///   - bytes: the whole request.
  ///   - last: the user of the connection's last message.
  func begin(
    _ request: PlainSend, of bytes: ByteBuffer, from peer: NetworkAddress?, _ last: inout RememberedUser?
  ) -> Send? {
    guard let principal = principal(request, bytes, &last), let user = principal.user else { return nil }
    let address = peer.map { peer in
      proxies.isEmpty ? peer : proxies.client(peer: peer, forwardedFor: request.forwardedFor.map { bytes.text($0) })
    }
    guard let taken = limiter.admitAtOnce(principal, at: address) else { return nil }
    metrics.begin()
    return Send(
      request: request, user: user, principal: principal, peer: peer, start: .now, taken: taken,
      body: bodies.charge(for: address, logger))
  }

  private func principal(_ request: PlainSend, _ bytes: ByteBuffer, _ last: inout RememberedUser?) -> Principal? {
    if let actAs = request.actAs {
      return authenticator.service(
        Credentials(authorization: bytes.text(request.authorization), actAs: bytes.text(actAs)))
    }
    return token(request.authorization, bytes, &last).flatMap { authenticator.user(of: $0, at: chat.clock.now) }
  }

  private func token(
    _ authorization: Range<Int>, _ bytes: ByteBuffer, _ last: inout RememberedUser?
  ) -> VerifiedToken? {
    bytes.withUnsafeReadableBytes { all in
      let value = UnsafeRawBufferPointer(rebasing: all[authorization])
      if let last, last.isNamed(by: value) { return last.token }
      guard let token = try? BearerToken.token(in: String(decoding: value, as: UTF8.self)),
        let verified = authenticator.remembered(token)
      else { return nil }
      last = RememberedUser(authorization: Array(value), token: verified)
      return verified
    }
  }

  /// Passes the message to the writer.
  /// - Parameter bytes: the whole request.
  /// - Returns: whether the writer has it. If not, `abandon` must follow.
  func submit(
    _ send: inout Send, _ bytes: ByteBuffer, completion: @escaping @Sendable (DirectInbox.Reply) -> Void
  ) -> Bool {
    do {
      try send.body.add(send.request.bodyBytes)
      guard let body = bytes.getSlice(at: bytes.readerIndex + send.request.headBytes, length: send.request.bodyBytes)
      else { return false }
      let text = PlainBody.text(in: body)
      send.isOnlyText = text != nil
      let message = try text.map { .plain($0) } ?? JSONBody.decodeNow(SendMessageRequest.self, from: body).message()
      // Numbers can be longer in the response. It must stay so short that it does not count against `ResponseBudget`.
      if let data = message.custom?.body, data.utf8.count > Limits.directBodyBytes { return false }
      let request = try chat.send(message, as: send.request.message, to: send.request.room, by: send.principal)
      guard let command = chat.plainCommand(of: request) else { return false }
      send.message = message
      send.details = request.detailsWithoutFiles
      try chat.submit(command, completion: completion)
      return true
    } catch {
      return false
    }
  }

  /// Undoes everything, because the router handles the request.
  func abandon(_ send: Send) {
    send.body.release()
    limiter.giveBack(send.taken)
    metrics.abandon()
  }

  // MARK: After the writer

  /// - Returns: the bytes of the response, which was counted and logged; nil if there is no success. Then `abandon` must
  ///   follow.
  func response(to send: Send, _ reply: DirectInbox.Reply) -> ByteBuffer? {
    guard let outcome = chat.outcome(of: reply), let message = send.message else { return nil }
    // Cannot fail for this type; the router would report it.
    guard let body = try? receipt(for: message, of: send, outcome) else { return nil }
    let requestID = RequestID().description
    send.body.release()
    metrics.noteDirectMessage()
    let result = outcome.result
    var head = DirectResponseHead(result.status, bodyBytes: body.readableBytes)
    if let header = result.header { head.add(header) }
    head.add("Content-Type", "application/json")
    head.add("Content-Length", String(body.readableBytes))
    if let limits = send.taken.fields { head.add(limits) }
    head.addCommon(requestID: requestID)
    if let crossOrigin {
      var fields = HTTPFields()
      crossOrigin.complete(&fields)
      head.add(fields)
    }
    head.add("Date", date.text())
    end(send, requestID: requestID, result.status, bytes: body.readableBytes)
    return head.bytes(with: body)
  }

  private func receipt(for message: NewMessage, of send: Send, _ outcome: ChatOutcome) throws -> ByteBuffer {
    let request = send.request
    guard send.isOnlyText else {
      return try JSONBody.encode(
        Message(message, as: request.message, in: request.room, by: send.user, outcome, send.details))
    }
    return PlainReceipt.json(
      text: message.text, as: request.message, in: request.room, by: send.user, at: outcome.stamp.position,
      outcome.message?.sentAt ?? outcome.stamp.time)
  }

  /// The client is gone before the router could get the request.
  func endWithoutResponse(_ send: Send) {
    send.body.release()
    end(send, requestID: RequestID().description, nil, bytes: nil)
  }

  private func end(_ send: Send, requestID: String, _ status: HTTPResponse.Status?, bytes: Int?) {
    let time = send.start.duration(to: .now)
    let route = Endpoints.sendMessage.path
    metrics.end(route, .put, status, time)
    accessLog?.write(
      AccessLog.Line(
        requestID: requestID, method: .put, route: route, status: status, bytes: bytes, peer: send.peer, trace: nil,
        time: time))
  }
}

extension ByteBuffer {
  /// - Parameter range: counted from the first readable byte.
  fileprivate func text(_ range: Range<Int>) -> String {
    withUnsafeReadableBytes { String(decoding: $0[range], as: UTF8.self) }
  }
}
