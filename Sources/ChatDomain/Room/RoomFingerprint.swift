package import ChatPrimitives

extension RoomCommand {
  /// What the command says. Equal to the fingerprint of the first event that it records.
  ///
  /// The room is not a part of it: `Fingerprint.scoped(to:)` binds a key to one room.
  package var fingerprint: Fingerprint {
    switch self {
    case .create(let creation): creation.fingerprint
    case .edit(let edit): .edit(edit)
    case .archive: .archiving
    case .restore: .restoring
    case .delete: .deleting
    case .changeRole(let user, let role): .roleChange(user, role)
    case .transfer(let user): .roleChange(user, .owner)
    case .ban(let user): .ban(user)
    case .unban(let user): .unban(user)
    case .silence(let user, let until): .silencing(user, until: until)
    case .createInvite(let invite): invite.fingerprint
    case .revokeInvite(let id): .inviteRevocation(id)
    case .acceptInvite(let id): .joining(by: id)
    case .join: .joining(by: nil)
    case .addMember(let user): .memberAddition(user)
    case .removeMember(let user): .memberRemoval(user)
    case .leave: .leaving
    case .mute(let until): .muting(until: until)
    case .sendMessage(_, _, let fingerprint, _, _): fingerprint
    case .editMessage(let id, let edit, _): .messageEdit(id, edit)
    case .deleteMessage(let id, _): .messageDeletion(id)
    case .moveReadMarker(let id, _): .markerMove(to: id)
    case .markUnread(let id, _): .markingUnread(from: id)
    case .scheduleMessage(_, let message, _, _, _): .scheduling(message)
    case .changeScheduledMessage(let id, let edit, _): .schedulingChange(id, edit)
    case .cancelScheduledMessage(let id, _): .schedulingCancellation(id)
    case .sendScheduledMessage(let id, _, _, _): .scheduledSending(id)
    case .moveThreadMarker(let id, _, _, _): .threadMarkerMove(to: id)
    case .setThreadFollowing(let root, let follows, _): .following(root, follows)
    case .react(let id, let emoji, _, _): .reaction(id, emoji, isAdded: true)
    case .unreact(let id, let emoji, _, _): .reaction(id, emoji, isAdded: false)
    case .pin(let id, _): .pin(id, isPinned: true)
    case .unpin(let id, _): .pin(id, isPinned: false)
    }
  }
}
