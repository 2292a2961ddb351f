import ChatDomain
import ChatPrimitives

extension UserEvent.Blocks: KindFamily {
  static let kinds = [blockedKind, unblockedKind]

  var kind: Kind<Self> {
    switch self {
    case .blocked: Self.blockedKind
    case .unblocked: Self.unblockedKind
    }
  }

  private static let blockedKind = Kind<Self>(
    30, "user.blocked",
    write: { event, output in
      guard case .blocked(let user) = event else { return }
      output.write(subject: user.uuid)
    },
    readEnvelope: { .blocked(try $0.subject(UserID.self)) })

  private static let unblockedKind = Kind<Self>(
    31, "user.unblocked",
    write: { event, output in
      guard case .unblocked(let user) = event else { return }
      output.write(subject: user.uuid)
    },
    readEnvelope: { .unblocked(try $0.subject(UserID.self)) })
}
