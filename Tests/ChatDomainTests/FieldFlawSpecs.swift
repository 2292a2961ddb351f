import ChatDomain
import ChatPrimitives
import Testing

/// A command reports everything that is wrong with its fields; its decision throws the first.
@Suite struct FieldFlawSpecs {
  private static let long = String(repeating: "x", count: 70_000)

  private static let rooms: [(RoomCommand, [FieldFlaw])] = [
    (
      .lifecycle(.create(RoomCreation(kind: .group, name: long, creator: alice, topic: long, custom: long))),
      [
        FieldFlaw("/name", .roomNameTooLong), FieldFlaw("/topic", .topicTooLong),
        FieldFlaw("/custom", .customDataTooLong),
      ]
    ),
    (
      .lifecycle(.edit(RoomEdit(name: "", topic: long))),
      [FieldFlaw("/name", .roomNameEmpty), FieldFlaw("/topic", .topicTooLong)]
    ),
    (
      .messages(
        .send(
          hello,
          NewMessage(
            text: long, mentions: Mentions(users: (0..<51).map { id($0 + 1000) }),
            attachments: [
              NewMessage.AttachedMedia(media: id(1), name: "kettle.png"),
              NewMessage.AttachedMedia(media: id(2), name: long),
            ], custom: CustomPart(type: "", body: long)))),
      [
        FieldFlaw("/text", .textTooLong), FieldFlaw("/mentions/users", .tooManyMentions),
        FieldFlaw("/attachments/1/name", .attachmentNameTooLong), FieldFlaw("/type", .customTypeMalformed),
        FieldFlaw("/data", .customBodyTooLong),
      ]
    ),
    (
      .lifecycle(.edit(RoomEdit(name: "", custom: long))),
      [FieldFlaw("/name", .roomNameEmpty), FieldFlaw("/custom", .customDataTooLong)]
    ),
    (
      .messages(.edit(hello, MessageEdit(text: long, customBody: long))),
      [FieldFlaw("/text", .textTooLong), FieldFlaw("/data", .customBodyTooLong)]
    ),
    (.messages(.send(hello, .plain(""))), [FieldFlaw("/text", .emptyText)]),
    (.messages(.send(hello, .plain("hello"))), []), (.messages(.delete(hello)), []),
  ]

  @Test("of a room are all found", arguments: rooms)
  func ofRooms(command: RoomCommand, flaws: [FieldFlaw]) {
    #expect(command.fieldFlaws == flaws)
  }

  @Test("of a device and a registration are all found")
  func ofUsers() {
    var description = DeviceDescription(
      name: Self.long, type: "\u{0}", osVersion: "15", tokens: [PushToken(provider: .fcm, token: "")])
    description.language = "not a language"
    #expect(
      UserCommand.devices(.set(phone, description)).fieldFlaws == [
        FieldFlaw("/name", .deviceTextTooLong), FieldFlaw("/type", .nameMalformed),
        FieldFlaw("/fcmToken", .pushTokenEmpty),
        FieldFlaw("/language", .languageMalformed),
      ])
    #expect(
      UserCommand.account(.changeProfile(ProfileEdit(nickname: "", custom: Self.long))).fieldFlaws == [
        FieldFlaw("/nickname", .nicknameEmpty), FieldFlaw("/custom", .customDataTooLong),
      ])
    #expect(
      UserDecider.flaws(nickname: "", email: "nowhere", externalID: "", hasPassword: false) == [
        FieldFlaw("/nickname", .nicknameEmpty), FieldFlaw("", .credentialIncomplete),
        FieldFlaw("/email", .emailMalformed),
        FieldFlaw("/externalId", .externalIDMalformed),
      ])
    #expect(UserDecider.flaws(nickname: "Anna", email: "a@b", externalID: nil, hasPassword: true) == [])
  }

  @Test("of an invite and of a scheduled message are all found, with those of times")
  func ofTimes() {
    #expect(
      Invite.giving(until: noon, uses: 0).fieldFlaws(at: noon) == [
        FieldFlaw("/expiresAt", .inviteExpiryOutOfRange), FieldFlaw("/maxUses", .inviteUsesOutOfRange),
      ])
    #expect(Invite.giving(until: nil).fieldFlaws(at: noon) == [])
    let edit = ScheduledMessageEdit(text: Self.long, sendAt: noon, customBody: Self.long)
    #expect(
      RoomCommand.Scheduling.change(hello, edit).fieldFlaws(at: noon) == [
        FieldFlaw("/text", .textTooLong), FieldFlaw("/data", .customBodyTooLong),
        FieldFlaw("/sendAt", .sendingTimeOutOfRange),
      ])
    #expect(
      RoomCommand.Scheduling.schedule(hello, .plain("hi"), at: noon).fieldFlaws(at: noon) == [
        FieldFlaw("/sendAt", .sendingTimeOutOfRange)
      ])
  }

  @Test("a decision throws the first of them")
  func first() {
    let room = given(RoomDecider.self, teaRoom)
    room.when(.lifecycle(.edit(RoomEdit(name: "", topic: Self.long))), by: .user(alice)).thenRejected(.roomNameEmpty)
    room.when(.lifecycle(.edit(RoomEdit(name: "x", topic: Self.long))), by: .user(alice)).thenRejected(.topicTooLong)
  }
}
