import ChatDomain
import ChatPrimitives
import Foundation
import SwiftProtobuf

extension ServerEvent {
  static let kinds = [pushOutcomesRecordedKind, signingKeyRotatedKind, legalHoldPlacedKind, legalHoldLiftedKind]

  func write(to output: inout EventOutput) {
    let kind: Kind<Self>
    switch self {
    case .pushOutcomesRecorded: kind = Self.pushOutcomesRecordedKind
    case .signingKeyRotated: kind = Self.signingKeyRotatedKind
    case .legalHoldPlaced: kind = Self.legalHoldPlacedKind
    case .legalHoldLifted: kind = Self.legalHoldLiftedKind
    case .erased: return
    }
    output.kind = kind.number
    kind.write(self, &output)
  }

  static let pushOutcomesRecordedKind = Kind<Self>(
    200, "push.outcomes-recorded", .disclosed,
    write: { event, output in
      guard case .pushOutcomesRecorded(let outcomes) = event else { return }
      output.write(Hansard_V1_PushOutcomesRecorded.with(outcomes), shows: outcomes.shownFields)
    },
    read: { (body: Hansard_V1_PushOutcomesRecorded, reader) in
      .pushOutcomesRecorded(try reader.pushOutcomes(body))
    })

  private static let signingKeyRotatedKind = Kind<Self>(
    201, "signing-key.rotated", .disclosed,
    write: { event, output in
      guard case .signingKeyRotated(let generation) = event else { return }
      output.write(
        Hansard_V1_SigningKeyRotated.with { $0.generation = generation },
        shows: [("generation", .number(UInt64(generation)))])
    },
    read: { (body: Hansard_V1_SigningKeyRotated, _) in .signingKeyRotated(generation: body.generation) })

  private static let legalHoldPlacedKind = Kind<Self>(
    210, "legal-hold.placed", .disclosed,
    write: { event, output in
      guard case .legalHoldPlaced(let hold) = event else { return }
      output.write(subject: hold.target.id, Hansard_V1_LegalHoldPlaced.with(hold), shows: hold.shownFields)
    },
    read: { (body: Hansard_V1_LegalHoldPlaced, reader) in .legalHoldPlaced(try reader.legalHold(body)) })

  private static let legalHoldLiftedKind = Kind<Self>(
    211, "legal-hold.lifted",
    write: { event, output in
      guard case .legalHoldLifted(let target) = event else { return }
      output.write(subject: target)
    },
    readEnvelope: { reader in .legalHoldLifted(try reader.subject(UserID.self).uuid) })
}

extension LegalHold {
  fileprivate var shownFields: ShownFields {
    switch target {
    case .user(let user): [("user", .text(user.description)), ("reason", .text(reason))]
    case .room(let room): [("room", .text(room.description)), ("reason", .text(reason))]
    }
  }
}

extension Hansard_V1_LegalHoldPlaced {
  /// The values of `target_kind`.
  fileprivate static let user: UInt32 = 1
  fileprivate static let room: UInt32 = 2

  fileprivate static func with(_ hold: LegalHold) -> Self {
    .with {
      switch hold.target {
      case .user: $0.targetKind = user
      case .room: $0.targetKind = room
      }
      $0.reason = hold.reason
    }
  }
}

extension PayloadReader {
  fileprivate func legalHold(_ body: Hansard_V1_LegalHoldPlaced) throws(CodecError) -> LegalHold {
    if body.targetKind == Hansard_V1_LegalHoldPlaced.user {
      return LegalHold(.user(try subject(UserID.self)), reason: body.reason)
    }
    guard body.targetKind == Hansard_V1_LegalHoldPlaced.room else {
      throw failure(.malformedPayload, "\(body.targetKind) is not a kind of target")
    }
    return LegalHold(.room(try subject(RoomID.self)), reason: body.reason)
  }
}

extension PushOutcomes {
  fileprivate var shownFields: ShownFields {
    let shown = outcomes.map { outcome in
      JSONValue.object(
        [
          ("position", .number(outcome.position.value)), ("user", .text(outcome.user.description)),
          ("device", .text(outcome.device.description)), ("result", .text(outcome.result.name)),
        ] + (outcome.reason.map { [("reason", .text($0.name))] } ?? [])
          + (outcome.response.map { [("response", .text($0))] } ?? []))
    }
    return [("settledThrough", .number(settledThrough.value)), ("outcomes", .list(shown))]
  }
}

extension Hansard_V1_PushOutcomesRecorded {
  fileprivate static func with(_ outcomes: PushOutcomes) -> Self {
    .with {
      $0.settledThrough = outcomes.settledThrough.value
      $0.outcomes = outcomes.outcomes.map { outcome in
        .with {
          $0.position = outcome.position.value
          $0.userID = Data(outcome.user.uuid.bytes)
          $0.deviceID = Data(outcome.device.uuid.bytes)
          $0.result = UInt32(outcome.result.rawValue)
          $0.reason = outcome.reason.map { UInt32($0.rawValue) } ?? 0
          $0.response = outcome.response ?? ""
        }
      }
    }
  }
}

extension PayloadReader {
  fileprivate func pushOutcomes(_ body: Hansard_V1_PushOutcomesRecorded) throws(CodecError) -> PushOutcomes {
    var outcomes: [PushOutcome] = []
    for outcome in body.outcomes {
      guard let device = try id(outcome.deviceID) as DeviceID?, let user = try id(outcome.userID) as UserID? else {
        throw failure(.malformedPayload, "an outcome without a device or its user")
      }
      outcomes.append(
        PushOutcome(
          position: LogPosition(outcome.position), user: user, device: device,
          result: try value(outcome.result, PushResult.self),
          reason: outcome.reason == 0 ? nil : try value(outcome.reason, PushAbandonment.self),
          response: outcome.response.isEmpty ? nil : outcome.response))
    }
    return PushOutcomes(settledThrough: LogPosition(body.settledThrough), outcomes: outcomes)
  }
}
