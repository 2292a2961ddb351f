import ChatDomain
import ChatPrimitives
import Testing

@Suite("Blocking users")
struct UserBlockSpecs {
  private var atHome: Given<UserDecider> { given(UserDecider.self, aliceAtHome) }
  private var blocking: Given<UserDecider> { given(UserDecider.self, aliceAtHome + [.blocks(.blocked(bob))]) }
  private let since = UInt64(aliceAtHome.count + 1)

  @Test("a user can block any other registered user")
  func blocks() {
    atHome.when(.blocks(.block(bob)), by: .user(alice)).thenRecorded(.blocks(.blocked(bob)))
    atHome.when(.blocks(.block(bob)), by: .service(for: alice)).thenRecorded(.blocks(.blocked(bob)))
    atHome.when(.blocks(.block(bob)), by: .user(bob)).thenRejected(.forbidden)
    atHome.when(.blocks(.block(stranger)), by: .user(alice)).thenRejected(.userNotFound)
    atHome.when(.blocks(.block(alice)), by: .user(alice)).thenRejected(.cannotBlockSelf)
    given(UserDecider.self, []).when(.blocks(.block(bob)), by: .user(alice)).thenRejected(.userNotFound)
  }

  @Test("an existing block is recorded again only under a key, and its time does not change")
  func blocksTwice() {
    blocking.when(.blocks(.block(bob)), by: .user(alice)).thenAlreadyDone(at: since)
    blocking.when(.blocks(.block(bob)), by: .user(alice, key: .retried)).thenRecordedAgain(.blocks(.blocked(bob)))
    given(UserDecider.self, aliceAtHome + [.blocks(.blocked(bob)), .blocks(.blocked(bob))])
      .when(.blocks(.block(bob)), by: .user(alice)).thenAlreadyDone(at: since)
  }

  @Test("unblocking ends an existing block")
  func unblocks() {
    blocking.when(.blocks(.unblock(bob)), by: .user(alice)).thenRecorded(.blocks(.unblocked(bob)))
    blocking.when(.blocks(.unblock(carol)), by: .user(alice)).thenRejected(.blockNotFound)
    let over = given(UserDecider.self, aliceAtHome + [.blocks(.blocked(bob)), .blocks(.unblocked(bob))])
    over.when(.blocks(.unblock(bob)), by: .user(alice)).thenRejected(.blockNotFound)
    over.when(.blocks(.block(bob)), by: .user(alice)).thenRecorded(.blocks(.blocked(bob)))
  }

  @Test(
    "a user can block at most 1,000 users",
    arguments: [
      (Limits.blockedUsersPerUser - 1, true), (Limits.blockedUsersPerUser, false),
      (Limits.blockedUsersPerUser + 1, false),
    ])
  func limit(blocked: Int, isAccepted: Bool) {
    let blocks = (0..<UInt64(blocked)).map { UserEvent.blocks(.blocked(id(1000 + $0))) }
    let outcome = given(UserDecider.self, aliceAtHome + blocks).when(.blocks(.block(bob)), by: .user(alice))
    if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.tooManyBlockedUsers) }
  }

  @Test("blocking counts as upkeep, so a user whose quota is used up can still block")
  func isUpkeep() {
    for event in [UserEvent.Blocks.blocked(bob), .unblocked(bob)] {
      #expect(QuotaPurpose(of: [.user(alice, .blocks(event))], under: nil) == .upkeep)
    }
  }

  @Test("setting one preference does not change the others")
  func preferences() {
    let edits: [UserEvent] = [
      .account(.preferencesSet(PreferencesEdit(sharesReadMarkers: false))),
      .account(.preferencesSet(PreferencesEdit(acceptsDirectMessages: false))),
      .account(.preferencesSet(PreferencesEdit(sharesPresence: false))),
    ]
    var state = UserDecider.initial
    for (index, event) in (aliceAtHome + edits).enumerated() {
      UserDecider.evolve(&state, event, .at(UInt64(index + 1)), by: alice)
    }
    guard case .registered(let user) = state else {
      Issue.record("no user")
      return
    }
    #expect(
      user.preferences == UserPreferences(sharesReadMarkers: false, acceptsDirectMessages: false, sharesPresence: false)
    )
  }
}
