import ChatDomain
import ChatPrimitives
import Testing

@Suite("The parts of a message beside its text")
struct MessagePartSpecs {
  private let room = given(RoomDecider.self, teaRoom)
  private let photo = Media(hash: [1], contentType: "image/png", size: 3, width: 1, height: 1)

  private func sending(_ text: String = "hello", _ details: MessageDetails) -> Outcome<RoomDecider> {
    let content = MessageContent(text: text, details: details)
    return room.knowing(media: content.media).when(.send(.asking(for: content)), by: .user(carol))
  }

  private func custom(_ type: String, _ body: String = "{}") -> MessageDetails {
    MessageDetails(custom: CustomPart(type: type, body: body))
  }

  @Test("a text may be missing where there is an attachment or a custom part, and nowhere else")
  func emptyText() {
    let attachment = Attachment(media: id(1), content: photo, name: nil)
    sending("", MessageDetails(attachments: [attachment])).thenAccepted()
    sending("", custom("order.shipped")).thenAccepted()
    sending("", MessageDetails(mentions: Mentions(everyone: true))).thenRejected(.emptyText)
    sending(String(repeating: "x", count: 16_385), custom("order.shipped")).thenRejected(.textTooLong)
  }

  @Test("an edit can remove the text only if another part remains")
  func emptyEdit() {
    var photo = KnownMessage.of(carol, at: 6)
    photo.hasParts = true
    room.knowing(hello, photo).when(.messages(.edit(hello, .plain(""))), by: .user(carol))
      .thenRecorded(.messages(.edited(hello, at: .room(1), .plain(""))))
    room.knowing(hello, .of(carol, at: 6)).when(.messages(.edit(hello, .plain(""))), by: .user(carol)).thenRejected(
      .emptyText)
    let long = MessageEdit.plain(String(repeating: "x", count: 16_385))
    room.knowing(hello, photo).when(.messages(.edit(hello, long)), by: .user(carol)).thenRejected(.textTooLong)

    let captioned = ScheduledMessage(
      author: carol, content: MessageContent(text: "look", details: custom("order.shipped")),
      sendAt: noon.adding(milliseconds: 60_000))
    given(RoomDecider.self, teaRoom + [.scheduling(.scheduled(hello, captioned))])
      .when(.reschedule(text: ""), by: .user(carol)).thenAccepted()
    given(RoomDecider.self, teaRoom + [.scheduling(.scheduled(hello, .saying()))])
      .when(.reschedule(text: ""), by: .user(carol)).thenRejected(.emptyText)
  }

  @Test(
    "how many users a message mentions",
    arguments: [(49, nil), (50, nil), (51, .tooManyMentions)] as [(Int, Rejection?)])
  func mentions(count: Int, rejection: Rejection?) {
    let users: [UserID] = (0..<UInt64(count)).map { id(1000 + $0) }
    sending("hello", MessageDetails(mentions: Mentions(users: users))).then(rejection)
    let sent = KnownMessage.of(carol, at: 6)
    room.knowing(hello, sent).when(
      .messages(.edit(hello, MessageEdit(text: "hello", mentions: Mentions(users: users)))), by: .user(carol)
    ).then(rejection)
  }

  @Test(
    "how many files a message holds",
    arguments: [(9, nil), (10, nil), (11, .tooManyAttachments)] as [(Int, Rejection?)])
  func attachments(count: Int, rejection: Rejection?) {
    let files = (0..<UInt64(count)).map { Attachment(media: id($0 + 1), content: photo, name: nil) }
    sending("", MessageDetails(attachments: files)).then(rejection)
  }

  @Test(
    "the length of a file's name, in bytes",
    arguments: [(255, nil), (256, nil), (257, .attachmentNameTooLong)] as [(Int, Rejection?)])
  func names(bytes: Int, rejection: Rejection?) {
    let name = String(repeating: "n", count: bytes)
    sending("", MessageDetails(attachments: [Attachment(media: id(1), content: photo, name: name)])).then(rejection)
  }

  @Test(
    "the form of a custom type",
    arguments: [
      ("", .customTypeMalformed), ("a", nil), (String(repeating: "t", count: 127), nil),
      (String(repeating: "t", count: 128), nil), (String(repeating: "t", count: 129), .customTypeMalformed),
      ("a\u{7}", .customTypeMalformed), ("주문", nil),
    ] as [(String, Rejection?)])
  func customType(type: String, rejection: Rejection?) {
    sending("", custom(type)).then(rejection)
  }

  @Test(
    "the length of a custom body, in bytes",
    arguments: [(65_535, nil), (65_536, nil), (65_537, .customBodyTooLong)] as [(Int, Rejection?)])
  func customBody(bytes: Int, rejection: Rejection?) {
    sending("", custom("a", "\"" + String(repeating: "b", count: bytes - 2) + "\"")).then(rejection)
  }

  @Test(
    "the body of a custom part can be changed, with the text or alone",
    arguments: [
      MessageEdit(text: "new", customBody: "2"), MessageEdit(text: "", customBody: "2"),
      MessageEdit(text: nil, customBody: "2"),
    ])
  func customEdit(edit: MessageEdit) {
    let sent = MessageContent(text: "hello", details: custom("order.shipped", "1"))
    let known = room.knowing(hello, .of(carol, sent, at: 6))
    known.when(.messages(.edit(hello, edit)), by: .user(carol))
      .thenRecorded(.messages(.edited(hello, at: .room(1), edit)))
    known.when(.messages(.edit(hello, edit)), by: .user(alice)).thenRejected(.forbidden)
    let plain = room.knowing(hello, .of(carol, at: 6))
    plain.when(.messages(.edit(hello, MessageEdit(text: nil, customBody: "2"))), by: .user(carol))
      .thenRejected(.customTypeMissing)
  }

  @Test(
    "the length of a custom body in an edit, in bytes",
    arguments: [(65_535, nil), (65_536, nil), (65_537, .customBodyTooLong)] as [(Int, Rejection?)])
  func editedCustomBody(bytes: Int, rejection: Rejection?) {
    let edit = MessageEdit(text: nil, customBody: String(repeating: "1", count: bytes))
    let sent = MessageContent(text: "", details: custom("order.shipped"))
    room.knowing(hello, .of(carol, sent, at: 6)).when(.messages(.edit(hello, edit)), by: .user(carol)).then(rejection)
  }

  @Test("an edit replaces what it has, and keeps the rest")
  func edited() {
    let part = CustomPart(type: "order.shipped", body: "1", isSilent: true)
    let mentions = Mentions(users: [alice])
    let sent = MessageContent(text: "old", details: MessageDetails(mentions: mentions, custom: part))
    func content(_ text: String, _ mentions: Mentions, _ body: String) -> MessageContent {
      let part = CustomPart(type: part.type, body: body, isSilent: true)
      return MessageContent(text: text, details: MessageDetails(mentions: mentions, custom: part))
    }
    #expect(sent.edited(by: MessageEdit(text: nil, customBody: "2")) == content("old", mentions, "2"))
    #expect(sent.edited(by: .plain("new")) == content("new", Mentions(), "1"))
    let all = MessageEdit(text: "new", mentions: Mentions(everyone: true), customBody: "2")
    #expect(sent.edited(by: all) == content("new", Mentions(everyone: true), "2"))
    #expect(sent.edited(by: nil) == content("", Mentions(), "1"))
    #expect(MessageContent.plain("old").edited(by: MessageEdit(text: nil, customBody: "2")) == .plain("old"))
  }

  @Test("a file that the author may not use is refused, except in a repeat")
  func missingMedia() {
    let details = MessageDetails(attachments: [Attachment(media: id(1), content: photo, name: nil)])
    let content = MessageContent(text: "look", details: details)
    let command = RoomCommand.send(.asking(for: content))
    room.when(command, by: .user(carol)).thenRejected(.mediaNotFound)
    room.knowing(media: [id(2): photo]).when(command, by: .user(carol)).thenRejected(.mediaNotFound)
    room.knowing(media: content.media).when(command, by: .user(carol))
      .thenRecorded(.messages(.sent(hello, author: carol, thread: nil, content)))
    given(RoomDecider.self, teaRoom + [.messages(.sent(hello, author: carol, thread: nil, content))])
      .knowing(hello, .of(carol, content, at: 6)).when(command, by: .user(carol)).thenAlreadyDone(at: 6)
  }

  @Test("other parts are other content: the same ID with them is a clash")
  func clashes() {
    let contents = [
      MessageContent(text: "hello"), MessageContent(text: "hello", details: custom("a")),
      MessageContent(text: "hello", details: custom("a", "[]")), MessageContent(text: "hello", details: custom("b")),
      MessageContent(text: "hello", details: MessageDetails(replyTo: id(41))),
      MessageContent(text: "hello", details: MessageDetails(mentions: Mentions(users: [bob]))),
      MessageContent(text: "hello", details: MessageDetails(mentions: Mentions(everyone: true))),
      MessageContent(
        text: "hello", details: MessageDetails(attachments: [Attachment(media: id(1), content: photo, name: nil)])),
      MessageContent(
        text: "hello", details: MessageDetails(attachments: [Attachment(media: id(1), content: photo, name: "a")])),
    ]
    for content in contents {
      for other in contents {
        let prior = KnownMessage.of(carol, other, at: 6)
        let outcome = room.knowing(hello, prior).when(.send(.asking(for: content)), by: .user(carol))
        if content == other { outcome.thenAlreadyDone(at: 6) } else { outcome.thenRejected(.idInUse) }
      }
    }
  }

  // MARK: Reactions

  @Test(
    "a reaction is one grapheme or a name between colons",
    arguments: [
      ("👍", nil), ("👍🏽", nil), ("👩‍👩‍👧‍👦", nil), ("❤️", nil), ("a", nil), (":party_parrot:", nil), (":+1:", nil), (":a:", nil),
      (":" + String(repeating: "a", count: 61) + ":", nil), (":" + String(repeating: "a", count: 62) + ":", nil),
      (":" + String(repeating: "a", count: 63) + ":", .emojiMalformed), ("", .emojiMalformed),
      ("👍👍", .emojiMalformed), ("ok", .emojiMalformed), (" ", .emojiMalformed), ("\n", .emojiMalformed),
      ("::", .emojiMalformed), (":a b:", .emojiMalformed), (":길:", .emojiMalformed), ("\u{0}", .emojiMalformed),
      ("a" + String(repeating: "\u{301}", count: 32), .emojiMalformed),
      ("\u{200B}", .emojiMalformed), ("\u{202E}", .emojiMalformed), ("\u{301}", .emojiMalformed),
      ("\u{3164}", .emojiMalformed), ("\u{FE0F}", .emojiMalformed), ("\u{2800}", .emojiMalformed),
      ("\u{200D}", .emojiMalformed), ("\u{903}", .emojiMalformed), ("\u{20DD}", .emojiMalformed),
      ("1\u{FE0F}\u{20E3}", nil), ("e\u{301}", nil), ("\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", nil),
      ("\u{1F1F0}\u{1F1F7}", nil), ("\u{1F3F4}\u{E0067}\u{E0062}\u{E007F}", nil), ("\u{1F44D}\u{1F3FD}", nil),
    ] as [(String, Rejection?)])
  func emoji(text: String, rejection: Rejection?) {
    let sent = KnownMessage.of(carol, at: 6)
    room.knowing(hello, sent).when(.annotations(.react(hello, text)), by: .user(dave)).then(rejection)
    room.knowing(hello, sent).when(.annotations(.unreact(hello, text)), by: .user(dave)).then(rejection)
  }

  @Test("every member can add and remove reactions")
  func reacts() {
    let sent = KnownMessage.of(carol, at: 6)
    let gone = KnownMessage.of(carol, at: 6, deletedAt: 7)
    for command in [RoomCommand.annotations(.react(hello, "👍")), .annotations(.unreact(hello, "👍"))] {
      let known = room.knowing(hello, sent)
      known.when(command, by: .user(stranger)).thenRejected(.roomNotFound)
      known.when(command, by: .service()).thenRejected(.forbidden)
      known.when(command, by: .nobody()).thenRejected(.forbidden)
    }
    room.knowing(hello, sent).when(.annotations(.react(hello, "👍")), by: .user(dave))
      .thenRecorded(.annotations(.reactionAdded(hello, at: .room(1), by: dave, emoji: "👍", messageAuthor: carol)))
    room.knowing(hello, sent).when(.annotations(.unreact(hello, "👍")), by: .service(for: dave))
      .thenRecorded(.annotations(.reactionRemoved(hello, at: .room(1), by: dave, emoji: "👍")))
    room.knowing(hello, gone).when(.annotations(.react(hello, "👍")), by: .user(dave)).thenRejected(.messageDeleted)
    room.knowing(hello, gone).when(.annotations(.unreact(hello, "👍")), by: .user(dave)).thenRejected(.messageDeleted)
    room.when(.annotations(.react(hello, "👍")), by: .user(dave)).thenRejected(.messageNotFound)
    let archived = given(RoomDecider.self, teaRoom + [.lifecycle(.archived)])
    archived.knowing(hello, sent).when(.annotations(.react(hello, "👍")), by: .user(dave)).thenRejected(.roomArchived)
    archived.knowing(hello, sent).when(.annotations(.unreact(hello, "👍")), by: .user(dave)).thenAccepted()
  }

  @Test(
    "how many kinds of reactions a message has, and has of one user",
    arguments: [
      (ReactionCounts(kinds: 48, users: 0, ownKinds: 0, isOwn: false), nil),
      (ReactionCounts(kinds: 49, users: 0, ownKinds: 0, isOwn: false), nil),
      (ReactionCounts(kinds: 50, users: 0, ownKinds: 0, isOwn: false), .tooManyReactions),
      (ReactionCounts(kinds: 50, users: 1, ownKinds: 0, isOwn: false), nil),
      (ReactionCounts(kinds: 30, users: 0, ownKinds: 18, isOwn: false), nil),
      (ReactionCounts(kinds: 30, users: 0, ownKinds: 19, isOwn: false), nil),
      (ReactionCounts(kinds: 30, users: 0, ownKinds: 20, isOwn: false), .tooManyReactions),
      (ReactionCounts(kinds: 30, users: 1, ownKinds: 20, isOwn: false), .tooManyReactions),
      (ReactionCounts(kinds: 50, users: 1, ownKinds: 20, isOwn: true), nil),
    ] as [(ReactionCounts, Rejection?)])
  func reactionCount(counts: ReactionCounts, rejection: Rejection?) {
    let sent = KnownMessage.of(carol, at: 6)
    let known = room.knowing(hello, sent).knowing(reactions: counts, emoji: "👍", of: dave, on: hello)
    known.when(.annotations(.react(hello, "👍")), by: .user(dave)).then(rejection)
    known.when(.annotations(.unreact(hello, "👍")), by: .user(dave)).thenAccepted()
    // The counts say nothing about another user, another emoji or another message.
    known.when(.annotations(.react(hello, "👍")), by: .user(carol)).thenAccepted()
    known.when(.annotations(.react(hello, "👎")), by: .user(dave)).thenAccepted()
    known.knowing(id(41), sent).when(.annotations(.react(id(41), "👍")), by: .user(dave)).thenAccepted()
  }

  @Test("the counts after adding or removing a reaction")
  func countsReactions() {
    let none = ReactionCounts.none
    let first = ReactionCounts(kinds: 1, users: 1, ownKinds: 1, isOwn: true)
    #expect(none.adding == first && first.adding == first)
    #expect(first.removing == none && none.removing == none)
    let joined = ReactionCounts(kinds: 3, users: 2, ownKinds: 1, isOwn: false)
    #expect(joined.adding == ReactionCounts(kinds: 3, users: 3, ownKinds: 2, isOwn: true))
    #expect(joined.adding.removing == joined)
  }

  // MARK: Pins

  @Test("every member pins in a group; in a channel administrators do")
  func pins() {
    let sent = KnownMessage.of(carol, at: 6)
    let channel = given(RoomDecider.self, [.lifecycle(.created(.named("tea", .channel)))] + teaRoom.dropFirst())
    for command in [RoomCommand.annotations(.pin(hello)), .annotations(.unpin(hello))] {
      let (known, inChannel) = (room.knowing(hello, sent), channel.knowing(hello, sent))
      for user in [alice, bob, carol, dave] { known.when(command, by: .user(user)).thenAccepted() }
      for user in [alice, bob] { inChannel.when(command, by: .user(user)).thenAccepted() }
      for user in [carol, dave] { inChannel.when(command, by: .user(user)).thenRejected(.forbidden) }
      inChannel.when(command, by: .user(stranger)).thenRejected(.roomNotFound)
    }
    room.knowing(hello, .of(carol, at: 6, deletedAt: 7)).when(.annotations(.pin(hello)), by: .user(dave)).thenRejected(
      .messageDeleted)
    room.when(.annotations(.pin(hello)), by: .user(dave)).thenRejected(.messageNotFound)
    room.when(.annotations(.unpin(hello)), by: .user(dave)).thenRejected(.messageNotFound)
    let archived = given(RoomDecider.self, teaRoom + [.lifecycle(.archived)])
    archived.knowing(hello, sent).when(.annotations(.pin(hello)), by: .user(dave)).thenRejected(.roomArchived)
    archived.knowing(hello, sent).when(.annotations(.unpin(hello)), by: .user(dave)).thenAccepted()
  }

  @Test("a second pin keeps the first one's position, and a deletion removes the pin")
  func pinnedOnce() {
    let sent = KnownMessage.of(carol, at: 6)
    let pinned = given(
      RoomDecider.self,
      teaRoom + [
        .messages(.sent(hello, author: carol, thread: nil, .plain("hello"))),
        .annotations(.pinned(hello, at: .room(1))),
      ])
    pinned.knowing(hello, sent).when(.annotations(.pin(hello)), by: .user(dave)).thenAlreadyDone(at: 7)
    pinned.knowing(hello, sent).when(.annotations(.pin(hello)), by: .user(dave, key: .retried))
      .thenRecordedAgain(.annotations(.pinned(hello, at: .room(1))))
    #expect(pinned.state.room?.pinned == [hello: PinnedMessage(location: .room(1), pinned: .at(7))])
    for later: RoomEvent in [.annotations(.unpinned(hello, at: .room(1))), .messages(.deleted(hello, at: .room(1)))] {
      #expect(
        given(RoomDecider.self, teaRoom + [.annotations(.pinned(hello, at: .room(1))), later]).state.room?.pinned == [:]
      )
    }
  }

  @Test("how many messages are pinned", arguments: [(98, nil), (99, nil), (100, .tooManyPins)] as [(Int, Rejection?)])
  func pinCount(count: Int, rejection: Rejection?) {
    let pins = (0..<UInt64(count)).map { RoomEvent.annotations(.pinned(id(1000 + $0), at: .room($0 + 2))) }
    given(RoomDecider.self, teaRoom + pins).knowing(hello, .of(carol, at: 6)).when(
      .annotations(.pin(hello)), by: .user(dave)
    ).then(
      rejection)
  }
}

extension Outcome where D == RoomDecider {
  func then(_ rejection: Rejection?, location: SourceLocation = #_sourceLocation) {
    if let rejection { thenRejected(rejection, location: location) } else { thenAccepted(location: location) }
  }
}
