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
/// Decision 0036 gives the reasons.
struct DirectPath: Sendable {
  /// A message from its head to its response.
  struct Send: Sendable {
    let head: PlainSendHead
    let user: UserID
    let principal: Principal
    /// The other end of the connection.
    let peer: NetworkAddress?
    let start: ContinuousClock.Instant
    fileprivate let taken: RateLimiter.Taken
    fileprivate let body: BodyCharge
    /// What is sent; nil before the body is complete.
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
  /// - Parameter last: the user of the connection's last message.
  func begin(_ head: PlainSendHead, from peer: NetworkAddress?, _ last: inout RememberedUser?) -> Send? {
    guard let principal = principal(head, &last), let user = principal.user else { return nil }
    let address = peer.map { proxies.isEmpty ? $0 : proxies.client(peer: $0, forwardedFor: head.forwardedFor) }
    guard let taken = limiter.admitAtOnce(principal, at: address) else { return nil }
    metrics.begin()
    return Send(
      head: head, user: user, principal: principal, peer: peer, start: .now, taken: taken,
      body: bodies.charge(for: address, logger))
  }

  private func principal(_ head: PlainSendHead, _ last: inout RememberedUser?) -> Principal? {
    if let actAs = head.actAs {
      return authenticator.service(Credentials(authorization: head.authorization, actAs: actAs))
    }
    return token(head.authorization, &last).flatMap { authenticator.user(of: $0, at: chat.clock.now) }
  }

  private func token(_ authorization: String, _ last: inout RememberedUser?) -> VerifiedToken? {
    if let last, last.authorization == authorization { return last.token }
    guard let token = try? BearerToken.token(in: authorization), let verified = authenticator.remembered(token) else {
      return nil
    }
    last = RememberedUser(authorization: authorization, token: verified)
    return verified
  }

  /// Charges a piece of the body.
  /// - Returns: whether the address may hold that much.
  func charge(_ bytes: Int, to send: Send) -> Bool {
    do {
      try send.body.add(bytes)
      return true
    } catch {
      return false
    }
  }

  /// Passes the message to the writer.
  /// - Returns: whether the writer has it. If not, `abandon` must follow.
  func submit(
    _ send: inout Send, _ body: ByteBuffer, completion: @escaping @Sendable (DirectInbox.Reply) -> Void
  ) -> Bool {
    do {
      let text = PlainBody.text(in: body)
      send.isOnlyText = text != nil
      let message = try text.map { .plain($0) } ?? JSONBody.decodeNow(SendMessageRequest.self, from: body).message()
      // Numbers can be longer in the response. It must stay so short that it does not count against `ResponseBudget`.
      if let data = message.custom?.body, data.utf8.count > Limits.directBodyBytes { return false }
      let request = try chat.send(message, as: send.head.message, to: send.head.room, by: send.principal)
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

  /// - Returns: the response, which was counted and logged; nil if there is no success. Then `abandon` must follow.
  func response(to send: Send, _ reply: DirectInbox.Reply) -> (head: HTTPResponse, body: ByteBuffer)? {
    guard let outcome = chat.outcome(of: reply), let message = send.message else { return nil }
    // Cannot fail for this type; the router would report it.
    guard let body = try? receipt(for: message, of: send, outcome) else { return nil }
    let requestID = RequestID().description
    send.body.release()
    metrics.noteDirectMessage()
    let result = outcome.result
    var fields = result.headers
    fields.append(HTTPField(name: .contentType, value: "application/json"))
    fields.append(HTTPField(name: .contentLength, value: String(body.readableBytes)))
    if let limits = send.taken.fields { fields.append(contentsOf: limits) }
    ResponseHeaders.complete(&fields, requestID: requestID)
    crossOrigin?.complete(&fields)
    fields.append(HTTPField(name: .date, value: date.text()))
    end(send, requestID: requestID, result.status, bytes: body.readableBytes)
    return (HTTPResponse(status: result.status, headerFields: fields), body)
  }

  private func receipt(for message: NewMessage, of send: Send, _ outcome: ChatOutcome) throws -> ByteBuffer {
    guard send.isOnlyText else {
      return try JSONBody.encode(
        Message(message, as: send.head.message, in: send.head.room, by: send.user, outcome, send.details))
    }
    return PlainReceipt.json(
      text: message.text, as: send.head.message, in: send.head.room, by: send.user, at: outcome.stamp.position,
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
