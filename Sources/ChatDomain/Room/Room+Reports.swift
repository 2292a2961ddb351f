package import ChatPrimitives

extension RoomEvent {
  package enum Reports: Sendable, Equatable {
    /// The report is nil if it was erased. It stays open, and the envelope still has the reporter.
    indirect case filed(ReportID, reporter: UserID, Report?)
    /// The resolution is nil if it was erased. The report is still resolved.
    case resolved(ReportID, ReportResolution?)
    /// Contains the reporter, because only the reporters of open reports are in memory.
    case reopened(ReportID, reporter: UserID)
  }
}

extension RoomEvent.Reports: EventFamily {
  package var fingerprint: Fingerprint? {
    switch self {
    case .filed(_, let reporter, let report): report.map { .report($0, by: reporter) }
    case .resolved(let id, let resolution): resolution.map { .reportResolution(id, $0) }
    case .reopened(let id, _): .reportReopening(id)
    }
  }

  var textBytes: Int {
    switch self {
    case .filed(_, _, let report):
      report.map { $0.comment.byteCount + ($0.subject.message?.content?.textBytes ?? 0) } ?? 0
    case .resolved(_, let resolution): resolution?.note.byteCount ?? 0
    case .reopened: 0
    }
  }

  var isUpkeep: Bool {
    switch self {
    case .filed: false
    case .resolved, .reopened: true
    }
  }
}

extension Fingerprint {
  /// The fingerprint of what the reporter sent. It excludes the content of the message, so a retry is recognised after
  /// the message has changed.
  static func report(_ report: NewReport, by reporter: UserID?) -> Fingerprint {
    let (message, user): (MessageID?, UserID?) =
      switch report.subject {
      case .message(let message): (message, nil)
      case .user(let user): (nil, user)
      }
    return Fingerprint(
      .text("report.file"), .id(reporter?.uuid), .id(message?.uuid), .id(user?.uuid),
      .number(Int64(report.reason.rawValue)), .text(report.comment))
  }

  package static func report(_ report: Report, by reporter: UserID) -> Fingerprint {
    .report(NewReport(report), by: reporter)
  }

  package static func reportResolution(_ id: ReportID, _ resolution: ReportResolution) -> Fingerprint {
    Fingerprint(
      .text("report.resolve"), .id(id.uuid), .number(Int64(resolution.outcome.rawValue)), .text(resolution.note))
  }

  static func reportReopening(_ id: ReportID) -> Fingerprint {
    Fingerprint(.text("report.reopen"), .id(id.uuid))
  }
}

// MARK: - Commands

/// A report as a client sends it. It has the message's ID; the server adds the content.
package struct NewReport: Sendable, Hashable {
  package var subject: Subject
  package var reason: ReportReason
  package var comment: String

  package enum Subject: Sendable, Hashable {
    case message(MessageID)
    case user(UserID)
  }

  package init(_ subject: Subject, reason: ReportReason, comment: String = "") {
    self.subject = subject
    self.reason = reason
    self.comment = comment
  }

  fileprivate init(_ report: Report) {
    let subject: Subject =
      switch report.subject {
      case .message(let message): .message(message.id)
      case .user(let user): .user(user)
      }
    self.init(subject, reason: report.reason, comment: report.comment)
  }
}

extension RoomCommand {
  package enum Reports: Sendable, Equatable {
    case file(ReportID, NewReport)
    case resolve(ReportID, ReportResolution)
    case reopen(ReportID)
  }
}

extension RoomCommand.Reports: AggregateCommand {
  package func fingerprint(by actor: UserID?) -> Fingerprint {
    switch self {
    case .file(_, let report): .report(report, by: actor)
    case .resolve(let id, let resolution): .reportResolution(id, resolution)
    case .reopen(let id): .reportReopening(id)
    }
  }

  package var isKnownByItself: Bool {
    switch self {
    case .file: true
    case .resolve, .reopen: false
    }
  }

  package func addKeys(to lookup: inout Lookup, on room: RoomID, by actor: UserID?) {
    switch self {
    case .file(let id, let report):
      lookup.report = ReportKey(room: room, report: id)
      guard case .message(let message) = report.subject else { return }
      let key = MessageKey(room: room, message: message)
      lookup.messages = [key]
      lookup.content = key
    case .resolve(let id, _), .reopen(let id):
      lookup.report = ReportKey(room: room, report: id)
    }
  }
}

// MARK: - Decide

/// Reports of messages and members to the moderators of the room. Every member can report, even if silenced, and also
/// in archived and direct rooms.
extension RoomDecider {
  func decide(
    _ command: RoomCommand.Reports, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    switch command {
    case .file(let id, let report): try fileReport(id, report)
    case .resolve(let id, let resolution): try resolveReport(id, resolution, directory)
    case .reopen(let id): try reopenReport(id, directory)
    }
  }

  /// A retry is recognised by what the reporter sent, even after the message was edited or deleted.
  private func fileReport(_ id: ReportID, _ report: NewReport) throws(Rejection) -> Decision<RoomEvent> {
    try requireMember()
    let reporter = try actor()
    if let earlier = known.reports[reportKey(id)] {
      guard earlier.fingerprint == basis.fingerprint else { throw .idInUse }
      return .alreadyDone(earlier.filed)
    }
    try TextRules.reportComment(report.comment)
    let subject = try subject(of: report, by: reporter)
    let open = try room().openReports
    guard open.count < Limits.openReportsPerRoom,
      open.values.count(where: { $0 == reporter }) < Limits.openReportsPerUserAndRoom
    else { throw .tooManyReports }
    let filed = Report(subject: subject, reason: report.reason, comment: report.comment)
    return .record([.reports(.filed(id, reporter: reporter, filed))])
  }

  /// Records the content that the lookup found, even if the message has changed since. Otherwise its author could delay
  /// reports by editing it. If the lookup found no content, the message was deleted before, or sent after the lookup.
  private func subject(of report: NewReport, by reporter: UserID) throws(Rejection) -> ReportSubject {
    switch report.subject {
    case .user(let user):
      guard user != reporter else { throw .forbidden }
      guard try room().members[user] != nil else { throw .memberNotFound }
      return .user(user)
    case .message(let id):
      let message = try message(id)
      guard message.author != reporter else { throw .forbidden }
      let content = known.contents[messageKey(id)]
      guard content != nil || message.isDeleted else { throw .messageNotFound }
      return .message(ReportedMessage(id: id, author: message.author, sentAt: message.sentAt, content: content))
    }
  }

  /// A different resolution replaces the present one. The same resolution is recorded again only under a key, so that a
  /// late retry is recognised after the report has been reopened.
  private func resolveReport(
    _ id: ReportID, _ resolution: ReportResolution, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    let report = try moderatedReport(id, directory)
    if let done = try doneBefore() { return done }
    try TextRules.reportNote(resolution.note)
    if report.resolution == basis.fingerprint, context.command == nil { return .alreadyDone(report.revised) }
    return .record([.reports(.resolved(id, resolution))], revision: report.revised.position)
  }

  /// The room's limit on open reports applies, because deleting the room changes all of them. The reporter's limit does
  /// not apply, because it is a moderator who reopens a report.
  private func reopenReport(
    _ id: ReportID, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    let report = try moderatedReport(id, directory)
    if let done = try doneBefore() { return done }
    if report.isOpen, context.command == nil { return .alreadyDone(report.revised) }
    let open = try room().openReports
    guard report.isOpen || open.count < Limits.openReportsPerRoom else { throw .tooManyReports }
    return .record([.reports(.reopened(id, reporter: report.reporter))], revision: report.revised.position)
  }

  /// A report that the actor may resolve. The reported user gets `reportNotFound`, whatever their role. An erased report
  /// exists only for services and its reporter.
  private func moderatedReport(_ id: ReportID, _ directory: borrowing some Directory) throws(Rejection) -> KnownReport {
    try requireModerator(directory)
    guard let report = known.reports[reportKey(id)] else { throw .reportNotFound }
    if let actor = context.actor, report.isHidden(from: actor) { throw .reportNotFound }
    return report
  }

  /// Requires an administrator of the room or of its workspace, or a service. Administrators of the workspace can also
  /// resolve reports in private channels that they cannot read, because the reporter has chosen to disclose the
  /// message.
  private func requireModerator(_ directory: borrowing some Directory) throws(Rejection) {
    let room = try room()
    guard let user = context.actor else { return }
    if let workspace = room.workspace, let role = directory.role(of: user, in: workspace), role >= .administrator {
      return
    }
    guard let member = room.members[user] else { throw .roomNotFound }
    guard member.role >= .administrator else { throw .forbidden }
  }

  private func reportKey(_ id: ReportID) -> ReportKey { ReportKey(room: self.id, report: id) }
}

// MARK: - Evolve

extension Room {
  mutating func apply(_ event: RoomEvent.Reports) {
    switch event {
    case .filed(let id, let reporter, _), .reopened(let id, let reporter): openReports[id] = reporter
    case .resolved(let id, _): openReports[id] = nil
    }
  }
}
