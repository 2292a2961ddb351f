import ChatDomain
import ChatPrimitives

// The users and objects of the specs.

func id<Entity>(_ number: UInt64) -> ID<Entity> { ID(UUIDBytes(high: 0x0192_0000_0000_7000, low: number)) }

let alice: UserID = id(1)
let bob: UserID = id(2)
let carol: UserID = id(3)
let dave: UserID = id(4)
let stranger: UserID = id(99)
/// A user whose account was deleted.
let ghost: UserID = id(98)

let phone: DeviceID = id(10)
let tablet: DeviceID = id(11)
let login: SessionID = id(20)
let otherLogin: SessionID = id(21)
let link: InviteID = id(30)
let hello: MessageID = id(40)
let robot: ServiceID = id(50)
let office: WorkspaceID = id(80)
let complaint: ReportID = id(90)

/// A time before the first given event.
let dawn = Timestamp(milliseconds: 1_767_225_600_000)
/// A time after all given events. The commands of the specs come at this time.
let noon = dawn.adding(milliseconds: 12 * 3_600_000)

extension Stamp {
  /// The stamp of the given event with this number, counted from 1.
  static func at(_ position: UInt64) -> Stamp {
    Stamp(position: LogPosition(position), time: dawn.adding(milliseconds: Int64(position) * 1000))
  }
}

extension CommandContext {
  static func nobody(at time: Timestamp = noon) -> CommandContext { CommandContext(time: time) }

  static func user(
    _ user: UserID, session: SessionID? = nil, key: CommandID? = nil, if precondition: Precondition? = nil,
    at time: Timestamp = noon
  ) -> CommandContext {
    CommandContext(actor: user, session: session, command: key, precondition: precondition, time: time)
  }

  /// A service that acts as a user.
  static func service(for user: UserID, key: CommandID? = nil, at time: Timestamp = noon) -> CommandContext {
    CommandContext(actor: user, service: robot, command: key, time: time)
  }

  /// A service that acts as itself.
  static func service(key: CommandID? = nil, at time: Timestamp = noon) -> CommandContext {
    CommandContext(service: robot, command: key, time: time)
  }
}

extension Precondition {
  static func at(_ revisions: UInt64...) -> Precondition { .isAt(revisions.map { LogPosition($0) }) }
}

extension Credential {
  static func version(_ version: UInt32) -> Credential {
    Credential(
      version: version, hash: [UInt8](repeating: 7, count: 32), logRounds: 15, blockSize: 8, parallelism: 1)
  }
}

extension Registration {
  static func named(
    _ nickname: String = "Alice", email: String? = "alice@example.org", externalID: String? = nil,
    credential: Credential? = .version(1), key: UInt8 = 1
  ) -> Registration {
    Registration(
      nickname: nickname, email: email, externalID: externalID, credential: credential,
      commitmentKey: [UInt8](repeating: key, count: 32))
  }
}

extension DeviceDescription {
  static func named(
    _ name: String? = "Alice's phone", type: String? = "ios", osVersion: String? = "26.1", tokens: [PushToken] = [],
    apnsEnvironment: APNsEnvironment? = nil, language: String? = nil, roomChanges: Bool = false
  ) -> DeviceDescription {
    DeviceDescription(
      name: name, type: type, osVersion: osVersion, tokens: tokens, apnsEnvironment: apnsEnvironment,
      language: language, roomChanges: roomChanges)
  }
}

extension QuietHours {
  static func atNight(from: String = "22:00", to: String = "07:00", in zone: String = "Europe/Berlin") -> QuietHours {
    guard let from = TimeOfDay(from), let to = TimeOfDay(to) else { preconditionFailure("not times: \(from), \(to)") }
    return QuietHours(from: from, to: to, timeZone: zone)
  }
}

extension RoomCreation {
  static func named(_ name: String = "tea", _ kind: RoomKind = .group, by creator: UserID? = alice) -> RoomCreation {
    RoomCreation(kind: kind, name: name, creator: creator)
  }
}

extension RoomCreation {
  /// A direct room of these users. The first of them creates it.
  static func direct(_ users: UserID..., in workspace: WorkspaceID? = nil) -> RoomCreation {
    RoomCreation(
      kind: .direct, name: "", creator: users.first, workspace: workspace, participants: users.sorted())
  }

  static func channel(
    _ name: String = "tea", of workspace: WorkspaceID = office, isPublic: Bool = true, by creator: UserID? = alice
  ) -> RoomCreation {
    RoomCreation(kind: .channel, name: name, creator: creator, workspace: workspace, isPublic: isPublic)
  }
}

extension WorkspaceInvite {
  static func into(
    _ role: WorkspaceRole = .member, id: InviteID = link, until expiry: Timestamp? = noon.adding(milliseconds: 60_000),
    uses: UInt32? = nil, codeHash: [UInt8]? = nil
  ) -> WorkspaceInvite {
    WorkspaceInvite(
      id: id, tokenHash: [UInt8](repeating: 8, count: 32), role: role, expiresAt: expiry, maximumUses: uses,
      codeHash: codeHash)
  }
}

extension Invite {
  static func giving(
    _ role: Role = .member, id: InviteID = link, until expiry: Timestamp? = noon.adding(milliseconds: 60_000),
    uses: UInt32? = nil, codeHash: [UInt8]? = nil
  ) -> Invite {
    Invite(
      id: id, tokenHash: [UInt8](repeating: 9, count: 32), role: role, expiresAt: expiry, maximumUses: uses,
      codeHash: codeHash)
  }
}

extension KnownMessage {
  /// A message among the given events.
  static func of(
    _ author: UserID, _ text: String = "hello", ordinal: UInt64 = 1, at position: UInt64, deletedAt: UInt64? = nil
  ) -> KnownMessage {
    let revision = Stamp.at(deletedAt ?? position)
    return KnownMessage(
      author: author, location: .room(ordinal), sent: .at(position), sentAt: Stamp.at(position).time,
      revision: revision.position, isDeleted: deletedAt != nil, fingerprint: .message(.plain(text), author: author),
      revisedAt: revision.time)
  }
}

extension KnownMessage {
  /// A message in a thread that is not among the given events.
  static func of(_ author: UserID, in location: MessageLocation) -> KnownMessage {
    var message = KnownMessage.of(author, at: 6)
    message.location = location
    return message
  }

  /// A message with more than a text.
  static func of(_ author: UserID, _ content: MessageContent, at position: UInt64) -> KnownMessage {
    var message = KnownMessage.of(author, at: position)
    message.fingerprint = .message(content, author: author)
    message.hasParts = content.hasParts
    message.isCustom = content.details?.custom != nil
    return message
  }
}

extension NewMessage {
  /// The request with which a client sends this content.
  static func asking(for content: MessageContent, in thread: MessageID? = nil) -> NewMessage {
    NewMessage(
      text: content.text, replyTo: content.details?.replyTo, thread: thread,
      mentions: content.details?.mentions ?? Mentions(),
      attachments: (content.details?.attachments ?? []).map { AttachedMedia(media: $0.media, name: $0.name) },
      custom: content.details?.custom)
  }
}

extension MessageContent {
  /// The files in the message, by ID.
  var media: [MediaID: Media] {
    Dictionary((details?.attachments ?? []).map { ($0.media, $0.content) }) { first, _ in first }
  }
}

extension RoomCommand {
  static func send(_ message: NewMessage, id: MessageID = hello) -> RoomCommand { .messages(.send(id, message)) }

  static func send(_ text: String = "hello", id: MessageID = hello) -> RoomCommand { .send(.plain(text), id: id) }
}

extension RoomCommand {
  static func report(_ message: MessageID, id: ReportID = complaint, comment: String = "") -> RoomCommand {
    .reports(.file(id, NewReport(.message(message), reason: .spam, comment: comment)))
  }

  static func report(user: UserID, id: ReportID = complaint, comment: String = "") -> RoomCommand {
    .reports(.file(id, NewReport(.user(user), reason: .harassment, comment: comment)))
  }

  static func resolve(
    _ id: ReportID = complaint, _ outcome: ReportOutcome = .noAction, note: String = ""
  ) -> RoomCommand {
    .reports(.resolve(id, ReportResolution(outcome: outcome, note: note)))
  }

  static func reopen(_ id: ReportID = complaint) -> RoomCommand { .reports(.reopen(id)) }
}

extension RoomEvent {
  /// A report of a user.
  static func reported(
    _ user: UserID = dave, by reporter: UserID = carol, id: ReportID = complaint, comment: String = ""
  ) -> RoomEvent {
    .reports(
      .filed(id, reporter: reporter, Report(subject: .user(user), reason: .harassment, comment: comment)))
  }

  static func resolved(_ id: ReportID = complaint, _ outcome: ReportOutcome = .noAction) -> RoomEvent {
    .reports(.resolved(id, ReportResolution(outcome: outcome, note: "")))
  }
}

extension ScheduledMessage {
  /// A message scheduled by carol for a minute after noon, unless specified otherwise.
  static func saying(
    _ text: String = "later", by author: UserID = carol, at time: Timestamp = noon.adding(milliseconds: 60_000)
  ) -> ScheduledMessage {
    ScheduledMessage(author: author, content: .plain(text), sendAt: time)
  }
}

extension RoomCommand {
  /// The command that sends carol's message, which was scheduled after `teaRoom`.
  static func sendDue(_ message: ScheduledMessage = .saying(), revision: UInt64 = 6) -> RoomCommand {
    .scheduling(.send(hello, message, revision: LogPosition(revision)))
  }

  static func schedule(
    _ text: String = "later", id: MessageID = hello, at time: Timestamp = noon.adding(milliseconds: 60_000)
  ) -> RoomCommand {
    .scheduling(.schedule(id, .plain(text), at: time))
  }

  static func reschedule(_ id: MessageID = hello, text: String? = nil, at time: Timestamp? = nil) -> RoomCommand {
    .scheduling(.change(id, ScheduledMessageEdit(text: text, sendAt: time)))
  }
}

/// A group of alice (owner), bob (administrator), carol and dave (members), at positions 1 to 5.
let teaRoom: [RoomEvent] = [
  .lifecycle(.created(.named())), .members(.joined(alice, role: .owner, invite: nil)),
  .members(.added(bob, role: .administrator)),
  .members(.added(carol, role: .member)), .members(.added(dave, role: .member)),
]

/// Alice with a phone on which she is logged in, at positions 1 to 3.
let aliceAtHome: [UserEvent] = [
  .account(.registered(.named())), .devices(.registered(phone, .named())), .sessions(.started(login, device: phone)),
]

/// A workspace of alice (owner), bob (administrator), carol (member) and dave (guest), at positions 1 to 5.
let officeEvents: [WorkspaceEvent] = [
  .lifecycle(.created(WorkspaceCreation(name: "office", creator: alice))),
  .members(.joined(alice, role: .owner, by: .service)),
  .members(.joined(bob, role: .administrator, by: .invitation)),
  .members(.joined(carol, role: .member, by: .invitation)),
  .members(.joined(dave, role: .guest, by: .invitation)),
]

extension TestDirectory {
  /// A directory with the workspace of `officeEvents`, and with users who are registered but not in it.
  static func ofOffice(and others: UserID..., rooms: [RoomID: Room] = [:]) -> TestDirectory {
    var directory = TestDirectory(registered: Set([alice, bob, carol, dave] + others))
    directory.workspaces[office] = [alice: .owner, bob: .administrator, carol: .member, dave: .guest]
    directory.rooms = rooms
    return directory
  }
}

extension Identity {
  static func of(_ subject: String, issuer: String = "https://id.example.org") -> Identity {
    Identity(issuer: issuer, subject: subject)
  }

  /// An identity that belongs to bob if a spec says so.
  static let taken = of("bob")
}

extension Credential {
  /// A password that differs from that of `version(_:)`.
  static func other(_ version: UInt32) -> Credential {
    var credential = Credential.version(version)
    credential.hash = [UInt8](repeating: 8, count: 32)
    return credential
  }
}
