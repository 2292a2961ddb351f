import ChatDomain
import ChatPrimitives
import ChatService
import EventLogSimulation

extension CommandGenerator {
  /// Mostly blocks one of six users, so that some of them send messages afterwards. Sometimes it is the user's own ID.
  mutating func block(_ model: ChatModel) -> Step? {
    let user = anyone()
    return block(users[random.below(chance(80) ? 6 : users.count)], by: user)
  }

  /// Mostly unblocks a user who is blocked.
  mutating func unblock(_ model: ChatModel) -> Step? {
    let user = pick(users.filter { model.users[$0]?.blocks.isEmpty == false }) ?? anyone()
    let other = chance(90) ? pick(model.users[user]?.blocks ?? [])?.user : nil
    return unblock(other ?? anyone(), by: user)
  }

  mutating func block(_ other: UserID, by user: UserID) -> Step {
    let key = key()
    return Step("u\(user.short) blocks u\(other.short) under k\(key.short)", user: user) {
      chat async throws(ServiceError) in
      Step.Receipt(try await chat.block(other, by: Principal(user: user), command: key))
    }
  }

  mutating func unblock(_ other: UserID, by user: UserID) -> Step {
    let key = key()
    return Step("u\(user.short) unblocks u\(other.short) under k\(key.short)", user: user) {
      chat async throws(ServiceError) in
      Step.Receipt(try await chat.unblock(other, by: Principal(user: user), command: key))
    }
  }
}
