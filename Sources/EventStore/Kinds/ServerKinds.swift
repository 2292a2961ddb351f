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
    211, "legal-hold.lifted", .disclosed,
    write: { event, output in
      guard case .legalHoldLifted(let lift) = event else { return }
      output.write(subject: lift.id, Hansard_V1_LegalHoldLifted.with(lift), shows: lift.shownFields)
    },
    readErasable: { (body: Hansard_V1_LegalHoldLifted?, reader) in .legalHoldLifted(try reader.legalHoldLift(body)) })
}

extension LegalHold {
  fileprivate var shownFields: ShownFields { target.shownFields + [("reason", .text(reason))] }
}

extension LegalHold.Lift {
  fileprivate var shownFields: ShownFields {
    switch self {
    case .on(let target): target.shownFields
    case .onID(let id): [("userOrRoom", .text(UserID(id).description))]
    }
  }
}

extension LegalHold.Target {
  /// The values of `target_kind`.
  fileprivate static let userNumber: UInt32 = 1
  fileprivate static let roomNumber: UInt32 = 2

  fileprivate var number: UInt32 {
    switch self {
    case .user: Self.userNumber
    case .room: Self.roomNumber
    }
  }

  fileprivate var shownFields: ShownFields {
    switch self {
    case .user(let user): [("user", .text(user.description))]
    case .room(let room): [("room", .text(room.description))]
    }
  }
}

extension Hansard_V1_LegalHoldPlaced {
  fileprivate static func with(_ hold: LegalHold) -> Self {
    .with {
      $0.targetKind = hold.target.number
      $0.reason = hold.reason
    }
  }
}

extension Hansard_V1_LegalHoldLifted {
  fileprivate static func with(_ lift: LegalHold.Lift) -> Self {
    .with {
      switch lift {
      case .on(let target): $0.targetKind = target.number
      case .onID: break
      }
    }
  }
}

extension PayloadReader {
  fileprivate func legalHold(_ body: Hansard_V1_LegalHoldPlaced) throws(CodecError) -> LegalHold {
    LegalHold(try holdTarget(body.targetKind), reason: body.reason)
  }

  fileprivate func legalHoldLift(_ body: Hansard_V1_LegalHoldLifted?) throws(CodecError) -> LegalHold.Lift {
    guard let body, body.targetKind != 0 else { return .onID(try subject(UserID.self).uuid) }
    return .on(try holdTarget(body.targetKind))
  }

  private func holdTarget(_ number: UInt32) throws(CodecError) -> LegalHold.Target {
    switch number {
    case LegalHold.Target.userNumber: return .user(try subject(UserID.self))
    case LegalHold.Target.roomNumber: return .room(try subject(RoomID.self))
    default: throw failure(.malformedPayload, "\(number) is not a kind of target")
    }
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
