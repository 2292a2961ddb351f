import ChatDomain
import ChatPrimitives
import ChatService

/// Commands that record each kind of event at least once, so that none is left to chance.
extension CommandGenerator {
  /// In an order in which each command is possible once the users are registered.
  mutating func openingSteps() -> [Step] {
    accountEvents() + deviceEvents() + workspaceEvents() + membershipEvents() + messageEvents() + readingEvents()
      + schedulingEvents() + blockEvents()
  }

  private mutating func blockEvents() -> [Step] { [block(third, by: fourth), unblock(third, by: fourth)] }

  private var leader: UserID { users[0] }
  private var second: UserID { users[1] }
  /// This user has a password.
  private var third: UserID { users[2] }
  private var fourth: UserID { users[3] }

  /// The number is below those of all rooms that chance creates.
  private static let room = Numbered.room(0)
  private static let workspace = Numbered.workspace(0)

  private func password(of user: UserID) -> String { Self.firstPassword(of: user) }

  private mutating func accountEvents() -> [Step] {
    let (first, another): (SessionID, SessionID) = (newID(), newID())
    let (key, new) = (key(), "new password of \(third.short)")
    let identity = Identity(issuer: "https://issuer.example", subject: "of the opening")
    let other = Identity(issuer: "https://issuer.example", subject: "of who is disabled")
    passwords[third] = [2: new]
    return [
      changeProfile(ProfileEdit(nickname: "leader", picture: nil), of: leader),
      setPreferences(PreferencesEdit(sharesReadMarkers: false), of: second),
      startSession(first, of: leader), startSession(another, of: leader), refresh(first, of: leader, 1),
      end(another, of: leader),
      changePassword(of: third, 1, from: password(of: third), to: new, nil, key),
      setEmail("third@example.org", of: third, new, version: 2),
      link(identity, to: leader, self.key()), unlink(identity, of: leader, self.key()),
      disable(fourth), link(other, to: fourth, self.key()), enable(fourth), rotateSigningKey(), upload(0, by: leader),
    ]
  }

  private mutating func deviceEvents() -> [Step] {
    let (old, new, session): (DeviceID, DeviceID, SessionID) = (newID(), newID(), newID())
    let token = PushToken(provider: .apns, token: "apns of the opening")
    let description = DeviceDescription(name: "phone", type: "ios", osVersion: nil, tokens: [token])
    return [
      set(old, of: leader, DeviceDescription(name: "phone", type: nil, osVersion: nil, tokens: [])),
      set(old, of: leader, description), set(new, of: second, description),
      startSession(session, of: second, new), end(session, of: second), set(new, of: second, description),
      invalidate(token, of: new, of: second),
      remove(old, of: leader),
    ]
  }

  /// The last user who joins was invited by a member who has left. That member had also created a link.
  private mutating func workspaceEvents() -> [Step] {
    let (place, invite, fading): (WorkspaceID, InviteID, InviteID) = (Self.workspace, newID(), newID())
    return [
      create(place, WorkspaceCreation(name: "the first", creator: leader)),
      workspace("edits it", place, .lifecycle(.edit(WorkspaceEdit(topic: "all"))), by: leader),
      createInvite(
        ChatService.NewInvite(id: invite, role: .member), of: place, by: leader),
      accept(invite, of: place, by: second), accept(invite, of: place, by: second),
      workspace("revokes i\(invite.short)", place, .sharing(.revokeInvite(invite)), by: leader),
      workspace("invites u\(third.short)", place, .invitations(.invite(third, .member)), by: leader),
      workspace("takes it back", place, .invitations(.withdraw(third)), by: leader),
      workspace("invites u\(fourth.short)", place, .invitations(.invite(fourth, .member)), by: leader),
      workspace("accepts", place, .invitations(.accept), by: fourth),
      workspace("promotes u\(fourth.short)", place, .members(.changeRole(fourth, .administrator)), by: leader),
      workspace("invites u\(third.short)", place, .invitations(.invite(third, .administrator)), by: fourth),
      createInvite(
        ChatService.NewInvite(id: fading, role: .administrator), of: place,
        by: fourth),
      workspace("leaves", place, .members(.leave), by: fourth),
      workspace("accepts", place, .invitations(.accept), by: third),
      workspace("removes u\(second.short)", place, .members(.remove(second)), by: leader),
      workspace("deletes it", place, .lifecycle(.delete), by: leader),
    ]
  }

  /// A link for administrators is used after its creator has stopped being an administrator.
  private mutating func membershipEvents() -> [Step] {
    let (place, invite, fading): (RoomID, InviteID, InviteID) = (Self.room, newID(), newID())
    let later = clock.now().adding(milliseconds: 86_400_000_000)
    return [
      create(place, RoomCreation(kind: .group, name: "the first", creator: leader)),
      room("renames it", place, .lifecycle(.edit(RoomEdit(name: "green tea"))), by: leader),
      room("edits it", place, .lifecycle(.edit(RoomEdit(topic: "all"))), by: leader),
      createInvite(
        ChatService.NewInvite(id: invite, role: .member), of: place, by: leader),
      accept(invite, of: place, by: second), accept(invite, of: place, by: second),
      room("revokes i\(invite.short)", place, .sharing(.revokeInvite(invite)), by: leader),
      room("adds u\(third.short)", place, .members(.add(third)), by: leader),
      room("adds u\(fourth.short)", place, .members(.add(fourth)), by: leader),
      room("promotes u\(second.short)", place, .members(.changeRole(second, .administrator)), by: leader),
      createInvite(
        ChatService.NewInvite(id: fading, role: .administrator), of: place,
        by: second),
      room("steps down", place, .members(.changeRole(second, .member)), by: second),
      accept(fading, of: place, by: users[4]),
      room("removes u\(fourth.short)", place, .members(.remove(fourth)), by: leader),
      room("bans u\(fourth.short)", place, .members(.ban(fourth)), by: leader),
      room("lifts the ban of u\(fourth.short)", place, .members(.unban(fourth)), by: leader),
      room("adds u\(fourth.short)", place, .members(.add(fourth)), by: leader),
      room("silences u\(fourth.short)", place, .members(.silence(fourth, until: later)), by: leader),
      room("mutes it", place, .members(.mute(until: later)), by: fourth),
      room("wants mentions", place, .members(.setNotifications(.mentions)), by: fourth),
      room("leaves", place, .members(.leave), by: fourth),
    ]
  }

  /// The imported message is from a user who later leaves, and its room is later deleted.
  private mutating func messageEvents() -> [Step] {
    let (place, message, old): (RoomID, MessageID, MessageID) = (Self.room, newID(), newID())
    let report: ReportID = newID()
    let complaint = NewReport(.message(message), reason: .spam, comment: "milk")
    let resolution = ReportResolution(outcome: .noAction, note: "tea")
    let edit = MessageEdit(text: "tea after all", mentions: Mentions(users: [second], everyone: false))
    return [
      send(
        .plain("milk or tea"), as: old, to: place, by: third, at: clock.now().adding(milliseconds: -86_400_000)),
      send(.plain("tea or milk"), as: message, to: place, by: leader),
      room("reports m\(message.short)", place, .reports(.file(report, complaint)), by: second),
      service("resolves p\(report.short)", place, .reports(.resolve(report, resolution))),
      service("reopens p\(report.short)", place, .reports(.reopen(report))),
      room("edits m\(message.short)", place, .messages(.edit(message, edit)), by: leader),
      room("reacts", place, .annotations(.react(message, "\u{1F44D}")), by: second),
      room("takes it back", place, .annotations(.unreact(message, "\u{1F44D}")), by: second),
      room("pins m\(message.short)", place, .annotations(.pin(message)), by: second),
      room("unpins it", place, .annotations(.unpin(message)), by: second),
      room("deletes m\(message.short)", place, .messages(.delete(message)), by: leader),
    ]
  }

  private mutating func readingEvents() -> [Step] {
    let (place, root, reply, next): (RoomID, MessageID, MessageID, MessageID) = (Self.room, newID(), newID(), newID())
    var message = NewMessage.plain("sugar no tea")
    message.thread = root
    return [
      send(.plain("sugar"), as: root, to: place, by: leader),
      room("has read m\(root.short)", place, .reading(.moveMarker(to: root)), by: second),
      room("marks it as unread", place, .reading(.markUnread(from: root)), by: second),
      send(message, as: reply, to: place, by: second), send(message, as: next, to: place, by: second),
      room(
        "has read m\(next.short)", place, .threads(.moveMarker(to: next, in: root)),
        by: leader),
      room(
        "has read m\(reply.short)", place,
        .threads(.moveMarker(to: reply, in: root)), by: leader),
      room("leaves the thread", place, .threads(.setFollowing(root, false)), by: leader),
    ]
  }

  /// The last message cannot be sent, because its author has left.
  private mutating func schedulingEvents() -> [Step] {
    let (place, cancelled, failed): (RoomID, MessageID, MessageID) = (Self.room, newID(), newID())
    let time = clock.now().adding(milliseconds: Limits.schedulingAheadMilliseconds / 2)
    let later = NewMessage.plain("later")
    let waiting = ScheduledMessage(author: third, content: MessageContent(text: later.text), sendAt: time)
    return [
      schedule(later, as: cancelled, to: place, by: third, at: time),
      room(
        "changes m\(cancelled.short)", place,
        .scheduling(.change(cancelled, ScheduledMessageEdit(text: "much later"))), by: third),
      room("cancels m\(cancelled.short)", place, .scheduling(.cancel(cancelled)), by: third),
      schedule(later, as: failed, to: place, by: third, at: time),
      room("leaves", place, .members(.leave), by: third), due(failed, waiting, revision: nil, in: place),
      room("archives it", place, .lifecycle(.archive), by: leader),
      room("opens it again", place, .lifecycle(.restore), by: leader),
      room("deletes it", place, .lifecycle(.delete), by: leader),
    ]
  }
}
