import ChatDomain
import ChatPrimitives
import SwiftProtobuf

extension UserEvent.Deletion: KindFamily {
  static let kinds = [deletedKind, erasedKind]

  var kind: Kind<Self> {
    switch self {
    case .deleted: Self.deletedKind
    case .erased: Self.erasedKind
    }
  }

  private static let deletedKind = Kind<Self>(
    50, "user.deleted", write: { $1.write() }, readEnvelope: { _ in .deleted })

  private static let erasedKind = Kind<Self>(
    51, "user.erased", .disclosed,
    write: { event, output in
      guard case .erased(let erasure) = event else { return }
      output.write(
        Hansard_V1_UserErased.with {
          $0.deletion = erasure.deletion.value
          $0.erasedRecords = erasure.erasedRecords
          $0.keptRecords = erasure.keptRecords
        },
        shows: [
          ("deletion", .number(erasure.deletion.value)), ("erasedRecords", .number(erasure.erasedRecords)),
          ("keptRecords", .number(erasure.keptRecords)),
        ])
    },
    read: { (body: Hansard_V1_UserErased, _) in
      .erased(
        Erasure(
          deletion: LogPosition(body.deletion), erasedRecords: body.erasedRecords, keptRecords: body.keptRecords))
    })
}
