import ChatDomain
import ChatProtocol
import ChatService
import HTTPTypes

/// What a request that writes has done, and the status and headers that say so.
enum WriteResult: Sendable, Hashable {
  case created(CreatedEntity)
  /// Something that existed before was changed.
  case changed
  /// Nothing was recorded: it was done before.
  case repeated

  var status: HTTPResponse.Status {
    switch self {
    case .created: .created
    case .changed, .repeated: .ok
    }
  }

  var headers: HTTPFields {
    switch self {
    case .created(let entity): [.location: entity.path]
    case .changed: [:]
    case .repeated: [.idempotentReplayed: "true"]
    }
  }
}

extension ChatOutcome {
  var result: WriteResult {
    guard isNew else { return .repeated }
    return created.map { .created($0) } ?? .changed
  }
}

extension SessionGrant {
  /// A refresh changes the session.
  var result: WriteResult {
    guard isNew else { return .repeated }
    return generation == 1 ? .created(.session(session)) : .changed
  }
}

extension HTTPField.Name {
  static let idempotentReplayed = HTTPField.Name.own(HeaderName.idempotentReplayed)
}
