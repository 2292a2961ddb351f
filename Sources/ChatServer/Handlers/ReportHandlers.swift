import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.Report
import struct ChatProtocol.ReportResolution
import struct ChatProtocol.ReportedMessage
import struct ChatProtocol.User

/// Reports of messages and members to the moderators of a room.
struct ReportHandlers: Sendable {
  let chat: ChatService

  func file(
    _ context: HansardRequestContext, _ body: TypedBody<FileReportRequest>
  ) async throws -> TypedResponse<Report> {
    let room: RoomID = try context.id("roomId")
    let body = try await body.decoded()
    let newReport = try body.report()
    let name = try CreationName(body.id, of: .report, in: room.uuid, context, chat)
    let actor = try context.actor
    let outcome = try await name.create {
      try await chat.performRoom(room, .reports(.file($0, newReport)), by: actor)
    }
    let (row, profiles) = try await chat.recordedReport(name.id, of: room)
    // A repeat gets the first response, also after the report was resolved.
    var report = Report(row, profiles, for: .reporter)
    report.status = Report.status(isOpen: true)
    report.revision = report.position
    report.resolution = nil
    return try JSONBody.receipt(outcome.result, report)
  }

  func resolve(
    _ context: HansardRequestContext, _ body: TypedBody<ResolveReportRequest>
  ) async throws -> TypedResponse<Report> {
    let body = try await body.decoded()
    let resolution = ChatDomain.ReportResolution(
      outcome: try ReportOutcome(body.outcome, field: "outcome"), note: body.note ?? "")
    return try await revise(.resolve(context.id("reportId"), resolution), context) { report, stamp, actor in
      report.status = Report.status(isOpen: false)
      report.resolution = ReportResolution(
        outcome: resolution.outcome.name, note: resolution.note, by: actor, at: stamp.time)
    }
  }

  func reopen(_ context: HansardRequestContext) async throws -> TypedResponse<Report> {
    try await revise(.reopen(context.id("reportId")), context) { report, _, _ in
      report.status = Report.status(isOpen: true)
      report.resolution = nil
    }
  }

  /// Responds with the report as the command left it. A repeat without a key changed nothing, so it gets the report as
  /// it is now.
  private func revise(
    _ command: RoomCommand.Reports, _ context: HansardRequestContext, _ show: (inout Report, Stamp, User?) -> Void
  ) async throws -> TypedResponse<Report> {
    let room: RoomID = try context.id("roomId")
    let key = try context.command()
    let outcome = try await chat.performRoom(
      room, .reports(command), by: context.actor, command: key, if: context.precondition())
    let (row, profiles) = try await chat.recordedReport(
      context.id("reportId"), of: room, naming: [context.reader].compactMap { $0 })
    var report = Report(row, profiles, for: .moderator)
    if outcome.isNew || key != nil {
      report.revision = outcome.stamp.position
      show(&report, outcome.stamp, context.reader.map { User($0, among: profiles) })
    }
    return try JSONBody.receipt(outcome.result, report)
  }

  // MARK: - Reading

  func get(_ context: HansardRequestContext) async throws -> TypedResponse<Report> {
    let viewed = try await chat.report(context.id("reportId"), of: context.id("roomId"), for: context.reader)
    return try JSONBody.response(Report(viewed.row, viewed.profiles, for: viewed.viewer))
  }

  func list(_ context: HansardRequestContext) async throws -> TypedResponse<ReportList> {
    let room: RoomID = try context.id("roomId")
    let viewer = context.reader
    return try await page(context, PageCursors(.reports, of: room, in: chat.logIdentity)) { isOpen, cursor, limit in
      try await chat.reports(of: room, for: viewer, isOpen: isOpen, before: cursor, limit: limit)
    }
  }

  func listOfWorkspace(_ context: HansardRequestContext) async throws -> TypedResponse<ReportList> {
    let workspace: WorkspaceID = try context.id("workspaceId")
    let viewer = context.reader
    return try await page(context, PageCursors(.workspaceReports, of: workspace, in: chat.logIdentity)) {
      isOpen, cursor, limit in
      try await chat.reports(of: workspace, for: viewer, isOpen: isOpen, before: cursor, limit: limit)
    }
  }

  func listAll(_ context: HansardRequestContext) async throws -> TypedResponse<ReportList> {
    try await page(context, PageCursors(.allReports, in: chat.logIdentity)) { isOpen, cursor, limit in
      try await chat.reports(isOpen: isOpen, before: cursor, limit: limit)
    }
  }

  /// A cursor from the list of open reports is also valid for resolved ones: both lists are ordered by the position of
  /// the filing.
  private func page(
    _ context: HansardRequestContext, _ cursors: PageCursors,
    _ find: (Bool, LogPosition?, Int) async throws -> ReportPage
  ) async throws -> TypedResponse<ReportList> {
    let page = try await find(
      try context.reportStatusIsOpen(), cursors.position(in: context.cursor()), context.limit())
    return try await JSONBody.page(of: page.reports.count) {
      ReportList(
        reports: page.reports.map { Report($0, page.profiles, for: .moderator) },
        nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }
}

extension HansardRequestContext {
  /// The query's `status`, which is `open` by default.
  fileprivate func reportStatusIsOpen() throws -> Bool {
    switch try query("status") {
    case nil, "open": return true
    case "resolved": return false
    case .some: throw Refusal.invalidQuery("status must be open or resolved.")
    }
  }
}

extension FileReportRequest {
  fileprivate func report() throws -> NewReport {
    let reason = try ReportReason(reason, field: "reason")
    switch (messageId, userId) {
    case (let message?, nil): return NewReport(.message(message), reason: reason, comment: comment ?? "")
    case (nil, let user?): return NewReport(.user(user), reason: reason, comment: comment ?? "")
    case (nil, nil), (.some, .some): throw Refusal.invalidField("Send either messageId or userId.")
    }
  }
}

extension Report {
  fileprivate static func status(isOpen: Bool) -> String { isOpen ? "open" : "resolved" }

  fileprivate init(_ row: ReportRow, _ profiles: [UserID: Profile], for viewer: ReportViewer) {
    self.init(
      id: row.id, roomId: row.room, status: Self.status(isOpen: row.resolution == nil), reason: row.report?.reason.name,
      comment: row.report?.comment ?? "", reporter: User(row.reporter, among: profiles),
      reportedUser: (row.report?.subject.user).map { User($0, among: profiles) },
      message: (row.report?.subject.message).map { ReportedMessage($0) }, filedAt: row.filed.time,
      position: row.filed.position, revision: row.revised.position,
      resolution: row.resolution.map { ReportResolution($0, at: row.revised.time, profiles, for: viewer) })
  }
}

extension ReportResolution {
  fileprivate init(
    _ resolution: ReportRow.Resolution, at time: Timestamp, _ profiles: [UserID: Profile], for viewer: ReportViewer
  ) {
    let resolver = resolution.resolver.map { User($0, among: profiles) }
    switch viewer {
    case .moderator: self.init(outcome: resolution.end.name, note: resolution.end.note, by: resolver, at: time)
    case .reporter: self.init(outcome: resolution.end.name, note: nil, by: nil, at: time)
    }
  }
}

extension ReportRow.End {
  /// The outcome in the API; nil if the resolution was erased.
  fileprivate var name: String? {
    switch self {
    case .resolved(let resolution): resolution.outcome.name
    case .erased: nil
    case .roomDeleted: "room_deleted"
    }
  }

  fileprivate var note: String? {
    switch self {
    case .resolved(let resolution): resolution.note
    case .erased, .roomDeleted: nil
    }
  }
}

extension ReportedMessage {
  fileprivate init(_ message: ChatDomain.ReportedMessage) {
    self.init(id: message.id, text: message.content?.text, sentAt: message.sentAt)
    guard let details = message.content?.details else { return }
    replyTo = details.replyTo
    mentions = MessageMentions(details.mentions)
    if !details.attachments.isEmpty { attachments = details.attachments.map { MessageAttachment($0) } }
    type = details.custom?.type
    data = details.custom.map { CanonicalJSON(unchecked: $0.body) }
  }
}
