import ChatDomain
import ChatPrimitives
import Foundation
import SwiftProtobuf

extension RoomEvent.Reports: KindFamily {
  static let kinds = [filedKind, resolvedKind, reopenedKind]

  var kind: Kind<Self> {
    switch self {
    case .filed: Self.filedKind
    case .resolved: Self.resolvedKind
    case .reopened: Self.reopenedKind
    }
  }

  /// An erased report stays open, without its content.
  private static let filedKind = Kind<Self>(
    170, "report.filed", .disclosed,
    write: { event, output in
      guard case .filed(let id, _, let report) = event else { return }
      output.write(
        subject: id.uuid, report.map { Hansard_V1_ReportFiled.with($0) },
        shows: report.map { .report($0) } ?? EventOutput.erased)
    },
    readErasable: { (body: Hansard_V1_ReportFiled?, reader) in
      .filed(
        try reader.subject(ReportID.self), reporter: try reader.actor(),
        try body.map { try EventCodec.decodeReport($0, reader) })
    })

  /// An erased resolution still ends its report.
  private static let resolvedKind = Kind<Self>(
    171, "report.resolved", .disclosed,
    write: { event, output in
      guard case .resolved(let id, let resolution) = event else { return }
      output.write(
        subject: id.uuid,
        resolution.map { resolution in
          Hansard_V1_ReportResolved.with {
            $0.outcome = UInt32(resolution.outcome.rawValue)
            $0.note = resolution.note
          }
        },
        shows: resolution.map { [("outcome", .text($0.outcome.name)), ("note", .text($0.note))] }
          ?? EventOutput.erased)
    },
    readErasable: { (body: Hansard_V1_ReportResolved?, reader) in
      .resolved(
        try reader.subject(ReportID.self),
        try body.map { ReportResolution(outcome: try reader.value($0.outcome, ReportOutcome.self), note: $0.note) })
    })

  private static let reopenedKind = Kind<Self>(
    172, "report.reopened", .disclosed,
    write: { event, output in
      guard case .reopened(let id, let reporter) = event else { return }
      output.write(
        subject: id.uuid, Hansard_V1_ReportReopened.with { $0.reporterID = Data(reporter.uuid.bytes) },
        shows: [("reporter", .text(reporter.description))])
    },
    read: { (body: Hansard_V1_ReportReopened, reader) in
      guard let reporter = try reader.id(body.reporterID) as UserID? else {
        throw reader.failure(.missingField, "reporter_id")
      }
      return .reopened(try reader.subject(ReportID.self), reporter: reporter)
    })
}

extension Hansard_V1_ReportFiled {
  fileprivate static func with(_ report: Report) -> Self {
    .with {
      $0.reason = UInt32(report.reason.rawValue)
      $0.comment = report.comment
      $0.userID = Data(report.subject.user.uuid.bytes)
      guard let message = report.subject.message else { return }
      $0.messageID = Data(message.id.uuid.bytes)
      $0.sentAtMs = message.sentAt.milliseconds
      guard let content = message.content else { return }
      $0.text = content.text
      if let details = content.details { $0.details = .with(details) }
    }
  }
}

extension EventCodec {
  fileprivate static func decodeReport(
    _ body: Hansard_V1_ReportFiled, _ reader: PayloadReader
  ) throws(CodecError) -> Report {
    guard let user = try reader.id(body.userID) as UserID? else { throw reader.failure(.missingField, "user_id") }
    var subject = ReportSubject.user(user)
    if let message = try reader.id(body.messageID) as MessageID? {
      subject = .message(
        ReportedMessage(
          id: message, author: user, sentAt: Timestamp(milliseconds: body.sentAtMs),
          content: body.hasText
            ? try decodeContent(body.text, body.hasDetails ? body.details : nil, reader) : nil))
    }
    return Report(
      subject: subject, reason: try reader.value(body.reason, ReportReason.self), comment: body.comment)
  }
}

extension ShownFields {
  fileprivate static func report(_ report: Report) -> ShownFields {
    let fields: ShownFields = [
      ("reason", .text(report.reason.name)), ("comment", .text(report.comment)),
      ("reportedUser", .text(report.subject.user.description)),
    ]
    guard let message = report.subject.message else { return fields }
    let shown: ShownFields = [
      ("message", .text(message.id.description)), ("sentAt", .text(message.sentAt.rfc3339)),
    ]
    return fields + shown + (message.content.map { .content($0) } ?? [])
  }
}
