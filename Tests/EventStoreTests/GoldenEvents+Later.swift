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

/// The kinds that came with workspaces, threads, media and all else that followed the first messages.
let laterEvents: [ChatEvent] = userEvents + roomEvents + messageEvents + workspaceEvents + unlinking

private let userEvents: [ChatEvent] = [
  .user(alice, .profileChanged(ProfileEdit(nickname: "Alice", picture: .set(picture)))),
  .user(
    alice,
    .credentialSet(Credential(version: 2, hash: [4, 5, 6], logRounds: 15, blockSize: 8, parallelism: 3))),
  .user(alice, .identityLinked(Identity(issuer: "https://id.example.org", subject: "0001.a"))),
  .user(alice, .emailSet("alice@example.org")),
  .user(alice, .disabled),
  .user(alice, .enabled),
  .user(alice, .preferencesSet(UserPreferences(sharesReadMarkers: false))),
  .user(alice, .preferencesSet(UserPreferences(sharesReadMarkers: true))),
  .user(alice, .sessionEnded(golden(10), .accountDisabled)),
  .user(alice, .sessionEnded(golden(10), .passwordChanged)),
  .user(
    alice,
    .deviceUpdated(
      phone, DeviceDescription(name: "phone", type: nil, osVersion: nil, tokens: [], notifications: .mentions))),
  .user(
    alice,
    .deviceUpdated(
      phone, DeviceDescription(name: "phone", type: nil, osVersion: nil, tokens: [], notifications: .none))),
  .user(alice, .pushTokenMoved(phone, PushToken(provider: .fcm, token: "c3d4"))),
  .user(alice, .mediaUploaded(picture, photo, name: "kettle.png")),
]

private let unlinking: [ChatEvent] = [
  .user(
    alice,
    .identityUnlinked(Identity(issuer: "https://id.example.org", subject: "0001.a"), linked: LogPosition(37)))
]

private let roomEvents: [ChatEvent] = [
  .room(
    room,
    .created(
      RoomCreation(
        kind: .channel, name: "tea", creator: alice, workspace: guild, isPublic: true, topic: "all about tea"))),
  .room(room, .created(RoomCreation(kind: .direct, name: "", creator: alice, participants: [alice, bob]))),
  .room(room, .edited(RoomEdit(topic: "leaves", picture: .set(picture)))),
  .room(room, .edited(RoomEdit(name: "tea", topic: "", picture: .remove))),
  .room(room, .restored),
  .room(room, .deleted),
  .room(room, .roleChanged(bob, .owner)),
  .room(room, .memberBanned(bob)),
  .room(room, .memberUnbanned(bob)),
  .room(room, .memberSilenced(bob, until: later)),
  .room(room, .memberSilenced(bob, until: nil)),
]

private let messageEvents: [ChatEvent] =
  [
    .room(room, .messageSent(message, author: alice, thread: nil, everything)),
    .room(
      room,
      .messageSent(
        reply, author: alice, thread: ThreadPlace(root: root, rootAuthor: bob, ordinal: 5), .plain("in a thread"))),
    .room(
      room, .messageSent(reply, author: alice, thread: ThreadPlace(root: root, rootAuthor: bob, ordinal: 6), everything)
    ),
    .room(
      room,
      .messageEdited(
        reply, at: MessagePlace(thread: 300, ordinal: 5), MessageEdit(text: "x", mentions: Mentions(users: [bob])))),
    .room(room, .messageDeleted(reply, at: MessagePlace(thread: 300, ordinal: 5))),
    .room(room, .reactionAdded(message, at: .room(300), by: alice, emoji: "👍🏽")),
    .room(room, .reactionRemoved(reply, at: MessagePlace(thread: 300, ordinal: 5), by: alice, emoji: "👍🏽")),
    .room(room, .messagePinned(message, at: .room(300))),
    .room(room, .messageUnpinned(reply, at: MessagePlace(thread: 300, ordinal: 5))),
    .room(room, .markedUnread(alice, from: message, ordinal: 300)),
    .room(room, .threadMarkerMoved(alice, to: reply, at: MessagePlace(thread: 300, ordinal: 5))),
    .room(room, .threadFollowingSet(alice, root, follows: true)),
    .room(room, .threadFollowingSet(alice, root, follows: false)),
    .room(room, .messageScheduled(reply, ScheduledMessage(author: alice, content: everything, sendAt: later))),
    .room(
      room,
      .scheduledMessageChanged(
        reply,
        ScheduledMessageEdit(text: "later", mentions: Mentions(users: [bob]), sendAt: later))),
    .room(room, .scheduledMessageCancelled(reply)),
  ] + SchedulingFailure.allCases.map { .room(room, .scheduledMessageFailed(reply, $0)) }

private let workspaceEvents: [ChatEvent] = [
  .server(.signingKeyRotated(generation: 2)),
  .workspace(guild, .created(WorkspaceCreation(name: "guild", creator: alice))),
  .workspace(guild, .edited(WorkspaceEdit(name: "길드", topic: "tea", picture: .set(picture)))),
  .workspace(guild, .edited(WorkspaceEdit(picture: .remove))),
  .workspace(guild, .deleted),
  .workspace(
    guild,
    .inviteCreated(
      WorkspaceInvite(
        id: invite, tokenHash: Array(repeating: 3, count: 32), role: .guest, expiresAt: later, maximumUses: 2))),
  .workspace(guild, .inviteRevoked(invite)),
  .workspace(guild, .memberJoined(alice, role: .owner, by: .service)),
  .workspace(guild, .memberJoined(bob, role: .guest, by: .link(invite))),
  .workspace(guild, .memberJoined(bob, role: .member, by: .invitation)),
  .workspace(guild, .memberLeft(bob)),
  .workspace(guild, .memberRemoved(bob)),
  .workspace(guild, .admissionRepeated(bob, .link(invite))),
  .workspace(guild, .admissionRepeated(bob, .invitation)),
  .workspace(guild, .admissionRepeated(bob, .service)),
  .workspace(guild, .memberInvited(bob, role: .administrator)),
  .workspace(guild, .roleChanged(bob, .member)),
  .workspace(guild, .invitationWithdrawn(bob)),
]
