import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import Testing

@Suite("How many kinds of reactions a message has, through the service")
struct ReactionLimitTests {
  private let room: RoomID = fixed(40)
  private let message: MessageID = fixed(50)

  private func react(
    _ number: Int, by user: UserID, _ fixture: ServiceFixture, isAdded: Bool = true
  ) async -> Rejection? {
    let emoji = ":kind_\(number):"
    let command = isAdded ? RoomCommand.annotations(.react(message, emoji)) : .annotations(.unreact(message, emoji))
    return await rejection { _ = try await fixture.chat.performRoom(room, command, by: Principal(user: user)) }
  }

  @Test("is bounded for one user and for all together, whatever the index knows of it already")
  func bounds() async throws {
    let fixture = try await ServiceFixture(keepsDirectory: true)
    let users = [try await fixture.user(1), try await fixture.user(2), try await fixture.user(3)]
    let creation = RoomCreation(kind: .group, name: "tea", creator: users[0])
    _ = try await fixture.chat.performRoom(room, .lifecycle(.create(creation)), by: Principal(user: users[0]))
    for user in users.dropFirst() {
      _ = try await fixture.chat.performRoom(room, .members(.add(user)), by: Principal(user: users[0]))
    }
    _ = try await fixture.send("hello", 50, to: room, by: users[0])

    let own = Limits.reactionKindsPerUserAndMessage
    for number in 0..<own { #expect(await react(number, by: users[0], fixture) == nil) }
    #expect(await react(own, by: users[0], fixture) == .tooManyReactions)
    #expect(await react(0, by: users[0], fixture) == nil)
    for number in own..<2 * own { #expect(await react(number, by: users[1], fixture) == nil) }
    let left = Limits.reactionKindsPerMessage - 2 * own
    for number in 0..<left { #expect(await react(100 + number, by: users[2], fixture) == nil) }
    #expect(await react(200, by: users[2], fixture) == .tooManyReactions)
    // A kind that exists can be joined. If the last user of a kind removes it, another kind can be added.
    #expect(await react(1, by: users[2], fixture) == nil)
    #expect(await react(1, by: users[0], fixture, isAdded: false) == nil)
    #expect(await react(200, by: users[2], fixture) == .tooManyReactions)
    #expect(await react(0, by: users[0], fixture, isAdded: false) == nil)
    #expect(await react(0, by: users[0], fixture, isAdded: false) == nil)
    #expect(await react(200, by: users[2], fixture) == nil)
    #expect(await react(201, by: users[2], fixture) == .tooManyReactions)
    try fixture.close()

    // From now on, only the index knows the counts.
    let again = try await ServiceFixture(directory: fixture.directory)
    #expect(await react(201, by: users[2], again) == .tooManyReactions)
    #expect(await react(200, by: users[2], again, isAdded: false) == nil)
    #expect(await react(201, by: users[2], again) == nil)
    try again.close()
  }
}
