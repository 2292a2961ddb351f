import ChatDomain
import ChatPrimitives
import ChatService
import EventLogSimulation

extension CommandGenerator {
  /// Mostly reports a message of another member.
  mutating func fileReport(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model) else { return nil }
    let user = actor(in: room)
    let subject: NewReport.Subject
    if chance(65), let message = pick(room.messages.filter { $0.author != user }.suffix(12)) {
      subject = .message(message.id)
    } else if chance(20), let message = pick(room.messages) {
      subject = .message(message.id)
    } else {
      subject = .user(chance(90) ? pick(room.members)?.user ?? anyone() : anyone())
    }
    guard let reason = pick(ReportReason.allCases) else { return nil }
    let id = chance(95) ? newID() : pick(room.reports)?.id ?? newID()
    let report = NewReport(subject, reason: reason, comment: chance(50) ? text() : "")
    return self.room("files report p\(id.short)", room.id, .reports(.file(id, report)), by: user)
  }

  mutating func resolveReport(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model), let report = report(of: room, isOpen: true),
      let outcome = pick(ReportOutcome.allCases)
    else { return nil }
    let command = RoomCommand.reports(.resolve(report.id, ReportResolution(outcome: outcome, note: text())))
    return moderate("resolves p\(report.id.short)", room, command, model)
  }

  mutating func reopenReport(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model), let report = report(of: room, isOpen: false) else { return nil }
    return moderate("reopens p\(report.id.short)", room, .reports(.reopen(report.id)), model)
  }

  /// Mostly returns a report with this status.
  private mutating func report(of room: ModelRoom, isOpen: Bool) -> ModelReport? {
    chance(85) ? pick(room.reports.filter { ($0.end == nil) == isOpen }) : pick(room.reports)
  }

  /// A command mostly by a moderator of the room, which includes administrators of its workspace, or by a service.
  private mutating func moderate(
    _ name: String, _ room: ModelRoom, _ command: RoomCommand, _ model: ChatModel
  ) -> Step {
    if chance(10) { return service(name, room.id, command) }
    let moderators = users.filter { model.moderates(room, $0) == true }
    return self.room(name, room.id, command, by: chance(85) ? pick(moderators) ?? anyone() : actor(in: room))
  }

  /// A command of a service that acts as itself.
  mutating func service(_ name: String, _ room: RoomID, _ command: RoomCommand) -> Step {
    let key = key()
    return Step(
      "the service \(name) in r\(room.short) under k\(key.short)", user: nil, room: room, rights: [.room(room)]
    ) { chat async throws(ServiceError) in
      Step.Receipt(
        try await chat.performRoom(room, command, by: Principal(user: nil, service: Numbered.service), command: key))
    }
  }
}
