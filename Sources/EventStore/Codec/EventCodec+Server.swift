import ChatDomain
import ChatPrimitives
import Foundation
import SwiftProtobuf

extension EventCodec {
  /// Nil for an erased fact, which is never written anew.
  static func encode(_ event: ServerEvent) -> EncodedBody? {
    switch event {
    case .pushOutcomesRecorded(let outcomes):
      EncodedBody(
        .pushOutcomesRecorded,
        Hansard_V1_PushOutcomesRecorded.with {
          $0.settledThrough = outcomes.settledThrough.value
          $0.outcomes = outcomes.outcomes.map { outcome in
            .with {
              $0.position = outcome.position.value
              $0.userID = Data(outcome.user.uuid.bytes)
              $0.deviceID = Data(outcome.device.uuid.bytes)
              $0.result = UInt32(outcome.result.rawValue)
              $0.reason = outcome.reason.map { UInt32($0.rawValue) } ?? 0
            }
          }
        })
    case .signingKeyRotated(let generation):
      EncodedBody(.signingKeyRotated, Hansard_V1_SigningKeyRotated.with { $0.generation = generation })
    case .erased: nil
    }
  }

  static func decode(_ kind: ServerEventKind, _ reader: PayloadReader) throws(CodecError) -> ServerEvent {
    switch kind {
    case .pushOutcomesRecorded:
      guard let body = try reader.message(Hansard_V1_PushOutcomesRecorded.self) else { break }
      return .pushOutcomesRecorded(try decodePushOutcomes(body, reader))
    case .signingKeyRotated:
      guard let body = try reader.message(Hansard_V1_SigningKeyRotated.self) else { break }
      return .signingKeyRotated(generation: body.generation)
    }
    return .erased(kind: reader.kind.rawValue)
  }

  private static func decodePushOutcomes(
    _ body: Hansard_V1_PushOutcomesRecorded, _ reader: PayloadReader
  ) throws(CodecError) -> PushOutcomes {
    var outcomes: [PushOutcome] = []
    for outcome in body.outcomes {
      guard let device = try reader.id(Array(outcome.deviceID)) as DeviceID?,
        let user = try reader.id(Array(outcome.userID)) as UserID?
      else {
        throw reader.failure(.malformedPayload, "an outcome without a device or its user")
      }
      outcomes.append(
        PushOutcome(
          position: LogPosition(outcome.position), user: user, device: device,
          result: try reader.value(outcome.result, PushResult.self),
          reason: outcome.reason == 0 ? nil : try reader.value(outcome.reason, PushAbandonment.self)))
    }
    return PushOutcomes(settledThrough: LogPosition(body.settledThrough), outcomes: outcomes)
  }
}
