import ChatDomain
import ChatPrimitives
import ChatService
import EventLogSimulation

extension CommandGenerator {
  /// Uses few emoji, so that several users react with the same one.
  mutating func react(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model), let message = message(of: room) else { return nil }
    let user = actor(in: room)
    if chance(35), let reaction = pick(message.reactions) {
      let by = chance(80) ? reaction.user : user
      return self.room(
        "takes \(reaction.emoji) from m\(message.id.short)", room.id,
        .annotations(.unreact(message.id, reaction.emoji)), by: by)
    }
    let emoji = pick(["\u{1F44D}", "\u{2764}\u{FE0F}", ":party_parrot:", "\u{1F1F0}\u{1F1F7}"]) ?? "x"
    return self.room(
      "reacts to m\(message.id.short) with \(emoji)", room.id, .annotations(.react(message.id, emoji)), by: user)
  }

  mutating func pin(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model) else { return nil }
    let user = chance(50) ? leader(of: room) : actor(in: room)
    if chance(40), let pinned = pick(room.pins) {
      return self.room("unpins m\(pinned.id.short)", room.id, .annotations(.unpin(pinned.id)), by: user)
    }
    guard let message = message(of: room) else { return nil }
    return self.room("pins m\(message.id.short)", room.id, .annotations(.pin(message.id)), by: user)
  }

  // MARK: - Threads

  /// The user mostly follows the thread, and the marker often moves to a reply that was read before.
  mutating func moveThreadMarker(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model), let reply = pick(room.messages.filter { $0.root != nil }), let root = reply.root
    else { return nil }
    let followers = room.members.filter { $0.threads[root] != nil }
    let user = chance(75) ? pick(followers)?.user ?? actor(in: room) : actor(in: room)
    return self.room(
      "has read m\(reply.id.short) of thread m\(root.short)", room.id,
      .threads(.moveMarker(to: reply.id, in: root)), by: user)
  }

  mutating func setThreadFollowing(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model) else { return nil }
    let roots = room.timeline.filter { chance(20) || !room.thread(of: $0.id).isEmpty }
    guard let root = pick(roots) else { return nil }
    let follows = chance(50)
    return self.room(
      "\(follows ? "follows" : "leaves") thread m\(root.id.short)", room.id,
      .threads(.setFollowing(root.id, follows)), by: actor(in: room))
  }
}
