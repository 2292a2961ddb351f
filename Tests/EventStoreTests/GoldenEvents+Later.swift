import ChatDomain
import ChatPrimitives
import EventStore

func golden<Entity>(_ number: UInt64) -> ID<Entity> { ID(UUIDBytes(high: 0x0199_0000_0000_7000, low: number)) }

private let alice: UserID = golden(1)
private let bob: UserID = golden(2)
private let phone: DeviceID = golden(20)
private let room: RoomID = golden(30)
private let invite: InviteID = golden(40)
private let message: MessageID = golden(50)
private let reply: MessageID = golden(51)
private let picture: MediaID = golden(80)
private let guild: WorkspaceID = golden(90)
private let later = Timestamp(milliseconds: 1_800_000_000_000)
private let root = ThreadRoot(message: message, ordinal: 300)
private let photo = Media(
  hash: Array(repeating: 7, count: 32), contentType: "image/png", size: 70_000, width: 640, height: 480)
private let everything = MessageContent(
  text: "look 👀",
  details: MessageDetails(
    replyTo: message, mentions: Mentions(users: [alice, bob], everyone: true),
    attachments: [
      Attachment(media: picture, content: photo, name: "tea.png"),
      Attachment(
        media: picture, content: Media(hash: [], contentType: "application/pdf", size: 1), name: nil),
    ],
    custom: CustomPart(type: "order.shipped", body: #"{"order":7}"#)))

/// The kinds that were added after the first messages: workspaces, threads, media and others.
let laterEvents: [ChatEvent] =
  userEvents + roomEvents + messageEvents + workspaceEvents + unlinking + reportEvents + blocking
  + [reportOfDeletedMessage] + presence + push + [quoting] + deletion + customData + contacts + holds + takenTokens
  + [creationWithData]

private let userEvents: [ChatEvent] = [
  .user(alice, .account(.profileChanged(ProfileEdit(nickname: "Alice", picture: .set(picture))))),
  .user(
    alice,
    .logins(.credentialSet(Credential(version: 2, hash: [4, 5, 6], logRounds: 15, blockSize: 8, parallelism: 3)))),
  .user(alice, .logins(.identityLinked(Identity(issuer: "https://id.example.org", subject: "0001.a")))),
  .user(alice, .account(.emailSet("alice@example.org"))),
  .user(alice, .account(.disabled)),
  .user(alice, .account(.enabled)),
  .user(alice, .account(.preferencesSet(PreferencesEdit(sharesReadMarkers: false)))),
  .user(alice, .account(.preferencesSet(PreferencesEdit(sharesReadMarkers: true)))),
  .user(alice, .sessions(.ended(golden(10), .accountDisabled))),
  .user(alice, .sessions(.ended(golden(10), .passwordChanged))),
  .user(
    alice,
    .devices(
      .updated(
        phone, DeviceDescription(name: "phone", type: nil, osVersion: nil, tokens: [], notifications: .mentions)))),
  .user(
    alice,
    .devices(
      .updated(
        phone, DeviceDescription(name: "phone", type: nil, osVersion: nil, tokens: [], notifications: .none)))),
  .user(alice, .devices(.tokenMoved(phone, PushToken(provider: .fcm, token: "c3d4")))),
  .user(alice, .media(.uploaded(picture, photo, name: "kettle.png"))),
]

private let unlinking: [ChatEvent] = [
  .user(
    alice,
    .logins(.identityUnlinked(Identity(issuer: "https://id.example.org", subject: "0001.a"), linked: LogPosition(37))))
]

private let blocking: [ChatEvent] = [
  .user(alice, .blocks(.blocked(bob))),
  .user(alice, .blocks(.unblocked(bob))),
  .user(alice, .account(.preferencesSet(PreferencesEdit(acceptsDirectMessages: false)))),
  .user(alice, .account(.preferencesSet(PreferencesEdit(acceptsDirectMessages: true)))),
  .user(alice, .account(.preferencesSet(PreferencesEdit(sharesReadMarkers: false, acceptsDirectMessages: false)))),
  .room(room, .scheduling(.failed(reply, .directMessagesRefused))),
]

private let contacts: [ChatEvent] = [
  .user(alice, .account(.preferencesSet(PreferencesEdit(directRooms: .everyone, groupAdditions: .known)))),
  .user(alice, .account(.preferencesSet(PreferencesEdit(directRooms: .nobody)))),
  .room(room, .members(.hidden(bob))),
  .room(room, .members(.shown(bob))),
]

private let deletion: [ChatEvent] = [
  .user(alice, .deletion(.deleted)),
  .user(alice, .deletion(.erased(Erasure(deletion: LogPosition(300), erasedRecords: 512, keptRecords: 2)))),
  .server(.legalHoldPlaced(LegalHold(.user(bob), reason: "case 7"))),
  .server(.legalHoldPlaced(LegalHold(.room(room), reason: "case 8"))),
  .server(.legalHoldLifted(.onID(room.uuid))),
  .room(room, .annotations(.reactionRemoved(message, at: .room(300), by: bob, emoji: ""))),
  .user(alice, .sessions(.ended(golden(10), .accountDeleted))),
]

private let customData: [ChatEvent] = [
  .user(alice, .account(.profileChanged(ProfileEdit(custom: #"{"team":"차"}"#)))),
  .room(room, .lifecycle(.edited(RoomEdit(custom: #"{"color":"red"}"#)))),
  .room(room, .lifecycle(.edited(RoomEdit(custom: "")))),
]

/// The first records of lifted holds did not say which hold it was.
private let holds: [ChatEvent] = [.server(.legalHoldLifted(.on(.user(bob))))]

private let creationWithData = ChatEvent.room(
  room,
  .lifecycle(.created(RoomCreation(kind: .group, name: "tea", creator: alice, custom: #"{"color":"red"}"#))))

private let takenTokens: [ChatEvent] = [.user(alice, .devices(.tokenTaken(phone, .fcm)))]

private let presence: [ChatEvent] = [
  .user(alice, .account(.preferencesSet(PreferencesEdit(sharesPresence: false)))),
  .user(
    alice,
    .account(
      .preferencesSet(PreferencesEdit(sharesReadMarkers: true, acceptsDirectMessages: false, sharesPresence: true)))),
]

let goldenNight: QuietHoursEdit? = {
  guard let from = TimeOfDay(minutes: 1350), let to = TimeOfDay(minutes: 0) else { return nil }
  return .set(QuietHours(from: from, to: to, timeZone: "Europe/Berlin"))
}()

private let push: [ChatEvent] = [
  .user(
    alice,
    .devices(
      .registered(
        phone,
        DeviceDescription(
          name: nil, type: nil, osVersion: nil,
          tokens: [PushToken(provider: .webPush, token: "https://push.example.org/a BNcR jFy8")],
          apnsEnvironment: .production, language: "pt-BR", roomChanges: true)))),
  .user(
    alice,
    .devices(
      .updated(
        phone, DeviceDescription(name: nil, type: nil, osVersion: nil, tokens: [], apnsEnvironment: .sandbox)))),
  .user(
    alice,
    .account(
      .preferencesSet(
        PreferencesEdit(
          notifications: .all, mutedKinds: AlertKinds(AlertKind.allCases), quietHours: .remove, showsPreviews: false)))),
  .user(
    alice, .account(.preferencesSet(PreferencesEdit(notifications: .mentions, mutedKinds: [], quietHours: goldenNight)))
  ),
  .user(
    alice, .account(.preferencesSet(PreferencesEdit(notifications: NotificationLevel.none, showsPreviews: true)))),
  .room(room, .members(.notificationsSet(bob, .all))),
  .room(room, .members(.notificationsSet(bob, .mentions))),
  .room(room, .members(.notificationsSet(bob, NotificationLevel.none))),
  .room(room, .members(.notificationsSet(bob, nil))),
  .room(room, .annotations(.reactionAdded(message, at: .room(300), by: alice, emoji: "👍🏽", messageAuthor: bob))),
]

private let report: ReportID = golden(70)
private let reportedMessage = ReportedMessage(id: message, author: bob, sentAt: later, content: everything)

/// A reply that has the location of the message that it replies to.
private let quoting = ChatEvent.room(
  room,
  .messages(
    .sent(
      reply, author: alice, thread: ThreadLocation(root: root, rootAuthor: bob, ordinal: 6),
      MessageContent(
        text: "yes", details: MessageDetails(replyTo: golden(52), at: MessageLocation(thread: 300, ordinal: 5))))))

private let reportOfDeletedMessage = ChatEvent.room(
  room,
  .reports(
    .filed(
      report, reporter: alice,
      Report(
        subject: .message(ReportedMessage(id: message, author: bob, sentAt: later, content: nil)), reason: .hate,
        comment: ""))))

private let reportEvents: [ChatEvent] =
  [
    .room(
      room,
      .reports(
        .filed(
          report, reporter: alice, Report(subject: .message(reportedMessage), reason: .spam, comment: "ads again")))),
    .room(room, .reports(.reopened(report, reporter: bob))),
  ]
  + ReportReason.allCases.map {
    .room(room, .reports(.filed(report, reporter: alice, Report(subject: .user(bob), reason: $0, comment: ""))))
  }
  + ReportOutcome.allCases.map {
    .room(room, .reports(.resolved(report, ReportResolution(outcome: $0, note: "seen"))))
  }

private let roomEvents: [ChatEvent] = [
  .room(
    room,
    .lifecycle(
      .created(
        RoomCreation(
          kind: .channel, name: "tea", creator: alice, workspace: guild, isPublic: true, topic: "all about tea")))),
  .room(room, .lifecycle(.created(RoomCreation(kind: .direct, name: "", creator: alice, participants: [alice, bob])))),
  .room(room, .lifecycle(.edited(RoomEdit(topic: "leaves", picture: .set(picture))))),
  .room(room, .lifecycle(.edited(RoomEdit(name: "tea", topic: "", picture: .remove)))),
  .room(room, .lifecycle(.restored)),
  .room(room, .lifecycle(.deleted)),
  .room(room, .members(.roleChanged(bob, .owner))),
  .room(room, .members(.banned(bob))),
  .room(room, .members(.unbanned(bob))),
  .room(room, .members(.silenced(bob, until: later))),
  .room(room, .members(.silenced(bob, until: nil))),
]

private let messageEvents: [ChatEvent] =
  [
    .room(room, .messages(.sent(message, author: alice, thread: nil, everything))),
    .room(
      room,
      .messages(
        .sent(
          reply, author: alice, thread: ThreadLocation(root: root, rootAuthor: bob, ordinal: 5), .plain("in a thread")))
    ),
    .room(
      room,
      .messages(
        .sent(reply, author: alice, thread: ThreadLocation(root: root, rootAuthor: bob, ordinal: 6), everything))
    ),
    .room(
      room,
      .messages(
        .edited(
          reply, at: MessageLocation(thread: 300, ordinal: 5), MessageEdit(text: "x", mentions: Mentions(users: [bob])))
      )),
    .room(room, .messages(.deleted(reply, at: MessageLocation(thread: 300, ordinal: 5)))),
    .room(room, .annotations(.reactionAdded(message, at: .room(300), by: alice, emoji: "👍🏽"))),
    .room(
      room, .annotations(.reactionRemoved(reply, at: MessageLocation(thread: 300, ordinal: 5), by: alice, emoji: "👍🏽"))),
    .room(room, .annotations(.pinned(message, at: .room(300)))),
    .room(room, .annotations(.unpinned(reply, at: MessageLocation(thread: 300, ordinal: 5)))),
    .room(room, .reading(.markedUnread(alice, from: message, ordinal: 300))),
    .room(room, .threads(.markerMoved(alice, to: reply, at: MessageLocation(thread: 300, ordinal: 5)))),
    .room(room, .threads(.followingSet(alice, root, follows: true))),
    .room(room, .threads(.followingSet(alice, root, follows: false))),
    .room(room, .scheduling(.scheduled(reply, ScheduledMessage(author: alice, content: everything, sendAt: later)))),
    .room(
      room,
      .scheduling(
        .changed(
          reply,
          ScheduledMessageEdit(text: "later", mentions: Mentions(users: [bob]), sendAt: later)))),
    .room(room, .scheduling(.cancelled(reply))),
  ] + [.notAMember, .roomClosed, .silenced, .targetGone].map { .room(room, .scheduling(.failed(reply, $0))) }

private let workspaceEvents: [ChatEvent] = [
  .server(.signingKeyRotated(generation: 2)),
  .workspace(guild, .lifecycle(.created(WorkspaceCreation(name: "guild", creator: alice)))),
  .workspace(guild, .lifecycle(.edited(WorkspaceEdit(name: "길드", topic: "tea", picture: .set(picture))))),
  .workspace(guild, .lifecycle(.edited(WorkspaceEdit(picture: .remove)))),
  .workspace(guild, .lifecycle(.deleted)),
  .workspace(
    guild,
    .sharing(
      .inviteCreated(
        WorkspaceInvite(
          id: invite, tokenHash: Array(repeating: 3, count: 32), role: .guest, expiresAt: later, maximumUses: 2)))),
  .workspace(guild, .sharing(.inviteRevoked(invite))),
  .workspace(guild, .members(.joined(alice, role: .owner, by: .service))),
  .workspace(guild, .members(.joined(bob, role: .guest, by: .link(invite)))),
  .workspace(guild, .members(.joined(bob, role: .member, by: .invitation))),
  .workspace(guild, .members(.left(bob))),
  .workspace(guild, .members(.removed(bob))),
  .workspace(guild, .members(.admissionRepeated(bob, .link(invite)))),
  .workspace(guild, .members(.admissionRepeated(bob, .invitation))),
  .workspace(guild, .members(.admissionRepeated(bob, .service))),
  .workspace(guild, .invitations(.invited(bob, role: .administrator))),
  .workspace(guild, .members(.roleChanged(bob, .member))),
  .workspace(guild, .invitations(.withdrawn(bob))),
]
