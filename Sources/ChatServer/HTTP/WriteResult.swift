import ChatDomain
import ChatProtocol
import ChatService
import HTTPTypes

/// The result of a write, with its status and header.
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

  /// Nil if there is none besides those of every response.
  var header: HTTPField? {
    switch self {
    case .created(let entity): HTTPField(name: .location, value: entity.path)
    case .changed: nil
    case .repeated: HTTPField(name: .idempotentReplayed, value: "true")
    }
  }

  var headers: HTTPFields { HTTPFields(header.map { [$0] } ?? []) }
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
