import ChatDomain
import ChatPrimitives

struct ModelReport: Equatable {
  /// How a report ended: with a resolution, or with the deletion of its room.
  enum End: Equatable {
    case resolved(ReportResolution)
    case roomDeleted
  }

  let id: ReportID
  let reporter: UserID
  let report: Report
  let filed: Stamp
  var revised: Stamp
  var end: End?
  var resolver: UserID?
}

extension ModelRoom {
  mutating func takeReport(_ event: RoomEvent.Reports, _ recorded: RecordedEvent) {
    switch event {
    case .filed(let id, let reporter, let report):
      guard let report else { return }
      reports.append(
        ModelReport(id: id, reporter: reporter, report: report, filed: recorded.stamp, revised: recorded.stamp))
    case .resolved(let id, let resolution):
      guard let resolution, let index = reports.firstIndex(where: { $0.id == id }) else { return }
      reports[index].end = .resolved(resolution)
      reports[index].resolver = recorded.actor
      reports[index].revised = recorded.stamp
    case .reopened(let id, _):
      guard let index = reports.firstIndex(where: { $0.id == id }) else { return }
      reports[index].end = nil
      reports[index].resolver = nil
      reports[index].revised = recorded.stamp
    }
  }

  /// Deleting a room ends its open reports. The user who deletes the room is their resolver.
  mutating func closeReports(_ recorded: RecordedEvent) {
    for index in reports.indices where reports[index].end == nil {
      reports[index].end = .roomDeleted
      reports[index].resolver = recorded.actor
      reports[index].revised = recorded.stamp
    }
  }
}

extension ChatModel {
  func law(ofReporting event: RoomEvent.Reports, in room: ModelRoom, by actor: UserID?) -> String? {
    switch event {
    case .filed(let id, let reporter, let report):
      if room.reports.contains(where: { $0.id == id }) { return "files an ID twice" }
      guard room.member(reporter) != nil, reporter == actor else { return "is filed by no member" }
      if report?.subject.user == reporter { return "is about the reporter" }
      let open = room.reports.filter { $0.end == nil }
      if open.count >= Limits.openReportsPerRoom { return "is more than the room can have" }
      if open.count(where: { $0.reporter == reporter }) >= Limits.openReportsPerUserAndRoom {
        return "is more than the user can have"
      }
      switch report?.subject {
      case .user(let user)?: return room.member(user) == nil ? "reports no member" : nil
      case .message(let reported)?: return law(ofReported: reported, in: room)
      case nil: return "has no content"
      }
    case .resolved(let id, _), .reopened(let id, _):
      guard let report = room.reports.first(where: { $0.id == id }) else { return "is about no report" }
      if case .reopened(_, let reporter) = event, reporter != report.reporter { return "names another reporter" }
      guard let actor else { return nil }
      if report.report.subject.user == actor { return "is done by the reported user" }
      return moderates(room, actor) == true ? nil : "is done by no moderator"
    }
  }

  /// The report has the message as it is at that moment, and nothing of what a deleted one said.
  private func law(ofReported reported: ReportedMessage, in room: ModelRoom) -> String? {
    guard let message = room.message(reported.id) else { return "reports no message" }
    guard message.author == reported.author, message.sentAt == reported.sentAt else { return "reports another message" }
    guard let content = reported.content else { return message.isDeleted ? nil : "does not say what was reported" }
    if message.isDeleted { return "says what was deleted" }
    let details = content.details
    let isCurrent =
      message.text == content.text
      && message.replyTo == details?.replyTo && message.mentions == details?.mentions ?? Mentions()
      && message.attachments == details?.attachments ?? [] && message.custom == details?.custom
    return isCurrent ? nil : "reports what the message does not say"
  }
}
