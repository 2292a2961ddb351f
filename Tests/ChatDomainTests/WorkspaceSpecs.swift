import ChatDomain
import ChatPrimitives
import Testing

@Suite("Workspaces")
struct WorkspaceSpecs {
  private let newcomer: UserID = id(60)
  private func workspace(_ later: [WorkspaceEvent] = []) -> Given<WorkspaceDecider> {
    given(WorkspaceDecider.self, officeEvents + later).with(.ofOffice(and: newcomer))
  }

  private static let creation = WorkspaceCreation(name: "office", creator: alice)

  // MARK: Life

  @Test("the creator owns a workspace, and a repeat creates no other")
  func creates() {
    let nothing = given(WorkspaceDecider.self, [])
    nothing.when(.lifecycle(.create(Self.creation)), by: .user(alice))
      .thenRecorded(.lifecycle(.created(Self.creation)), .members(.joined(alice, role: .owner, by: .service)))
    nothing.when(.lifecycle(.create(Self.creation)), by: .user(bob)).thenRejected(.forbidden)
    nothing.when(.lifecycle(.create(Self.creation)), by: .service()).thenRejected(.forbidden)
    nothing.when(.lifecycle(.create(WorkspaceCreation(name: "office", creator: stranger))), by: .user(stranger))
      .thenRejected(.userNotFound)
    workspace([.lifecycle(.edited(WorkspaceEdit(name: "home")))]).when(
      .lifecycle(.create(Self.creation)), by: .user(alice)
    )
    .thenAlreadyDone(at: 1)
    workspace().when(.lifecycle(.create(WorkspaceCreation(name: "home", creator: alice))), by: .user(alice))
      .thenRejected(.idInUse)
    workspace([.lifecycle(.deleted)]).when(.lifecycle(.create(Self.creation)), by: .user(alice)).thenRejected(
      .workspaceNotFound)
    workspace([.lifecycle(.deleted)]).when(
      .lifecycle(.create(WorkspaceCreation(name: "home", creator: alice))), by: .user(alice)
    )
    .thenRejected(.idInUse)
  }

  @Test("the length of a name, in bytes", arguments: [(0, false), (1, true), (255, true), (256, true), (257, false)])
  func nameLength(bytes: Int, isAccepted: Bool) {
    let name = String(repeating: "w", count: bytes)
    for outcome in [
      given(WorkspaceDecider.self, []).when(
        .lifecycle(.create(WorkspaceCreation(name: name, creator: alice))), by: .user(alice)),
      workspace().when(.lifecycle(.edit(WorkspaceEdit(name: name))), by: .user(alice)),
    ] {
      if isAccepted {
        outcome.thenAccepted()
      } else {
        outcome.thenRejected(bytes == 0 ? .workspaceNameEmpty : .workspaceNameTooLong)
      }
    }
  }

  @Test("the length of a topic, in bytes", arguments: [(0, true), (1023, true), (1024, true), (1025, false)])
  func topicLength(bytes: Int, isAccepted: Bool) {
    let topic = String(repeating: "t", count: bytes)
    for outcome in [
      given(WorkspaceDecider.self, []).when(
        .lifecycle(.create(WorkspaceCreation(name: "office", creator: alice, topic: topic))), by: .user(alice)),
      workspace().when(.lifecycle(.edit(WorkspaceEdit(topic: topic))), by: .user(alice)),
    ] {
      if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.topicTooLong) }
    }
  }

  @Test("the topic is part of a creation: another one under the same ID is no repeat")
  func topicOfCreation() {
    let creation = WorkspaceCreation(name: "office", creator: alice, topic: "tea")
    let created = given(
      WorkspaceDecider.self,
      [.lifecycle(.created(creation)), .members(.joined(alice, role: .owner, by: .service))]
    ).with(.ofOffice(and: newcomer))
    created.when(.lifecycle(.create(creation)), by: .user(alice)).thenAlreadyDone(at: 1)
    for topic in ["coffee", "", nil] {
      let other = WorkspaceCreation(name: "office", creator: alice, topic: topic)
      created.when(.lifecycle(.create(other)), by: .user(alice)).thenRejected(.idInUse)
    }
  }

  @Test("administrators edit, owners delete, members neither, and strangers learn nothing")
  func rights() {
    let edit = WorkspaceCommand.lifecycle(.edit(WorkspaceEdit(name: "home")))
    for context: CommandContext in [.user(alice), .user(bob), .service()] {
      workspace().when(edit, by: context).thenAccepted()
    }
    for context: CommandContext in [.user(alice), .service()] {
      workspace().when(.lifecycle(.delete), by: context).thenRecorded(.lifecycle(.deleted))
    }
    workspace().when(.lifecycle(.delete), by: .user(bob)).thenRejected(.forbidden)
    for user in [carol, dave] {
      for command in [
        edit, .lifecycle(.delete), .invitations(.invite(newcomer, .guest)), .sharing(.createInvite(.into(.guest))),
        .members(.remove(dave)),
      ] {
        workspace().when(command, by: .user(user)).thenRejected(.forbidden)
      }
    }
    let commands: [WorkspaceCommand] = [
      edit, .lifecycle(.delete), .sharing(.createInvite(.into())), .sharing(.revokeInvite(link)),
      .invitations(.invite(carol, .member)), .invitations(.withdraw(carol)),
      .members(.leave), .members(.remove(carol)), .members(.changeRole(carol, .guest)), .members(.transfer(to: carol)),
    ]
    for command in commands {
      workspace().when(command, by: .user(newcomer)).thenRejected(.workspaceNotFound)
      given(WorkspaceDecider.self, []).when(command, by: .user(alice)).thenRejected(.workspaceNotFound)
      workspace([.lifecycle(.deleted)]).when(command, by: .user(alice)).thenRejected(.workspaceNotFound)
      workspace().when(command, by: .nobody()).thenRejected(.forbidden)
    }
    workspace().when(.invitations(.accept), by: .user(newcomer)).thenRejected(.invitationNotFound)
    given(WorkspaceDecider.self, []).when(.invitations(.accept), by: .user(alice)).thenRejected(.invitationNotFound)
    workspace().when(.sharing(.acceptInvite(link)), by: .user(newcomer)).thenRejected(.inviteNotFound)
  }

  // MARK: Links

  @Test("a link gives at most its creator's role, and never ownership")
  func linkRoles() {
    workspace().when(.sharing(.createInvite(.into(.administrator))), by: .user(bob)).thenAccepted()
    for context: CommandContext in [.user(alice), .user(bob), .service()] {
      workspace().when(.sharing(.createInvite(.into(.owner))), by: context).thenRejected(.inviteRoleNotAllowed)
    }
    let lesser = workspace([.members(.roleChanged(bob, .member)), .members(.roleChanged(bob, .administrator))])
    lesser.when(.sharing(.createInvite(.into(.administrator))), by: .user(bob)).thenAccepted()
  }

  @Test("anyone with a valid link can join with its role")
  func comesInByLink() {
    let shared = workspace([.sharing(.inviteCreated(.into(.guest, uses: 1)))])
    shared.when(.sharing(.acceptInvite(link)), by: .user(newcomer))
      .thenRecorded(.members(.joined(newcomer, role: .guest, by: .link(link))))
    shared.when(.sharing(.acceptInvite(link)), by: .user(carol)).thenAlreadyDone(at: 4)
    workspace([
      .sharing(.inviteCreated(.into(uses: 1))), .members(.joined(id(61), role: .member, by: .link(link))),
    ]).when(.sharing(.acceptInvite(link)), by: .user(newcomer)).thenRejected(.inviteUsedUp)
    workspace([.sharing(.inviteCreated(.into())), .sharing(.inviteRevoked(link))])
      .when(.sharing(.acceptInvite(link)), by: .user(newcomer)).thenRejected(.inviteRevoked)
    workspace([.sharing(.inviteCreated(.into(until: noon)))]).when(.sharing(.acceptInvite(link)), by: .user(newcomer))
      .thenRejected(.inviteExpired)
    workspace([.sharing(.inviteCreated(.into())), .lifecycle(.deleted)]).when(
      .sharing(.acceptInvite(link)), by: .user(newcomer)
    )
    .thenRejected(.inviteNotFound)
  }

  @Test("how many valid links a workspace has", arguments: [(999, true), (1_000, false), (1_001, false)])
  func linkCount(count: UInt64, isAccepted: Bool) {
    let links = (0..<count).map { WorkspaceEvent.sharing(.inviteCreated(.into(id: id(1000 + $0)))) }
    let outcome = workspace(links).when(.sharing(.createInvite(.into())), by: .user(alice))
    if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.tooManyInvites) }
  }

  @Test(
    "how many links a workspace ever has, including ended ones",
    arguments: [(9_999, true), (10_000, false), (10_001, false)])
  func linkCountForEver(made: UInt64, isAccepted: Bool) {
    let links = (0..<made).flatMap { number -> [WorkspaceEvent] in
      [.sharing(.inviteCreated(.into(id: id(1000 + number)))), .sharing(.inviteRevoked(id(1000 + number)))]
    }
    let outcome = workspace(links).when(.sharing(.createInvite(.into())), by: .user(alice))
    if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.invitesExhausted) }
    workspace(links).when(.sharing(.createInvite(.into(id: id(1000)))), by: .user(alice)).thenAlreadyDone(at: 6)
  }

  @Test("a link gives at most its creator's current role, so removed users do not regain theirs through it")
  func capsRole() {
    let accept = WorkspaceCommand.sharing(.acceptInvite(link))
    for (later, given): ([WorkspaceEvent], WorkspaceRole) in [
      ([], .administrator), ([.members(.roleChanged(bob, .member))], .member),
      ([.members(.roleChanged(bob, .guest))], .guest),
      ([.members(.removed(bob))], .member), ([.members(.left(bob))], .member),
    ] {
      var shared = workspace()
      WorkspaceDecider.evolve(&shared.state, .sharing(.inviteCreated(.into(.administrator))), .at(6), by: bob)
      for (index, event) in later.enumerated() {
        WorkspaceDecider.evolve(&shared.state, event, .at(UInt64(index) + 7))
      }
      shared.when(accept, by: .user(newcomer)).thenRecorded(.members(.joined(newcomer, role: given, by: .link(link))))
    }
  }

  // MARK: Invitations

  @Test("an invited user can join with the role of the invitation, or decline")
  func invitations() {
    workspace().when(.invitations(.invite(newcomer, .guest)), by: .user(bob)).thenRecorded(
      .invitations(.invited(newcomer, role: .guest)))
    let invited = workspace([.invitations(.invited(newcomer, role: .administrator))])
    invited.when(.invitations(.accept), by: .user(newcomer))
      .thenRecorded(.members(.joined(newcomer, role: .administrator, by: .invitation)))
    invited.when(.invitations(.withdraw(newcomer)), by: .user(newcomer)).thenRecorded(
      .invitations(.withdrawn(newcomer)))
    invited.when(.invitations(.withdraw(newcomer)), by: .user(bob)).thenRecorded(.invitations(.withdrawn(newcomer)))
    invited.when(.invitations(.withdraw(newcomer)), by: .user(carol)).thenRejected(.forbidden)
    invited.when(.invitations(.invite(newcomer, .administrator)), by: .service()).thenAlreadyDone(at: 6)
    invited.when(.invitations(.invite(newcomer, .member)), by: .user(bob))
      .thenRecordedAgain(.invitations(.invited(newcomer, role: .member)))
    workspace([.invitations(.invited(newcomer, role: .guest)), .invitations(.withdrawn(newcomer))])
      .when(.invitations(.accept), by: .user(newcomer)).thenRejected(.invitationNotFound)
    workspace().when(.invitations(.accept), by: .user(carol)).thenAlreadyDone(at: 4)
    workspace().when(.invitations(.invite(carol, .guest)), by: .user(bob)).thenAlreadyDone(at: 4)
    workspace().when(.invitations(.invite(stranger, .guest)), by: .user(bob)).thenRejected(.userNotFound)
    workspace().when(.invitations(.invite(newcomer, .owner)), by: .user(alice)).thenRejected(.inviteRoleNotAllowed)
  }

  @Test("an invitation gives at most the last inviter's current role; a service's gives its own")
  func capsInvitedRole() {
    /// A workspace to which each of these, in turn, has invited the newcomer as an administrator.
    func invited(by makers: UserID?..., then later: [WorkspaceEvent]) -> Given<WorkspaceDecider> {
      var state = workspace()
      let invitation = WorkspaceEvent.invitations(.invited(newcomer, role: .administrator))
      for (index, maker) in makers.enumerated() {
        WorkspaceDecider.evolve(&state.state, invitation, .at(UInt64(index) + 6), by: maker)
      }
      for event in later { WorkspaceDecider.evolve(&state.state, event, .at(8)) }
      return state
    }
    func comesIn(_ state: Given<WorkspaceDecider>, as role: WorkspaceRole) {
      state.when(.invitations(.accept), by: .user(newcomer))
        .thenRecorded(.members(.joined(newcomer, role: role, by: .invitation)))
      state.when(.members(.join), by: .service(for: newcomer)).thenRecorded(
        .members(.joined(newcomer, role: role, by: .service)))
    }
    for (later, given): ([WorkspaceEvent], WorkspaceRole) in [
      ([], .administrator), ([.members(.roleChanged(bob, .member))], .member),
      ([.members(.roleChanged(bob, .guest))], .guest),
      ([.members(.removed(bob))], .member), ([.members(.left(bob))], .member),
      ([.members(.roleChanged(bob, .member)), .members(.roleChanged(bob, .administrator))], .administrator),
    ] {
      comesIn(invited(by: bob, then: later), as: given)
      comesIn(invited(by: alice, bob, then: later), as: given)
      comesIn(invited(by: bob, alice, then: later), as: .administrator)
      comesIn(invited(by: bob, nil, then: later), as: .administrator)
    }
    // By somebody else it is recorded again, because it gives at most the role of its last maker.
    let again = WorkspaceCommand.invitations(.invite(newcomer, .administrator))
    invited(by: bob, then: []).when(again, by: .user(bob)).thenAlreadyDone(at: 6)
    for context: CommandContext in [.user(alice), .service()] {
      invited(by: bob, then: []).when(again, by: context)
        .thenRecordedAgain(.invitations(.invited(newcomer, role: .administrator)))
    }
  }

  @Test("how many invitations are open", arguments: [(9_999, true), (10_000, false), (10_001, false)])
  func invitationCount(count: UInt64, isAccepted: Bool) {
    let others = (0..<count).map { WorkspaceEvent.invitations(.invited(id(1000 + $0), role: .member)) }
    let outcome = workspace(others).when(.invitations(.invite(newcomer, .member)), by: .user(alice))
    if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.tooManyInvitations) }
    workspace(others).with(.ofOffice(and: id(1000))).when(.invitations(.invite(id(1000), .guest)), by: .user(alice))
      .thenAccepted()
  }

  @Test("a service adds the user for whom it acts")
  func joins() {
    workspace().when(.members(.join), by: .service(for: newcomer))
      .thenRecorded(.members(.joined(newcomer, role: .member, by: .service)))
    workspace([.invitations(.invited(newcomer, role: .guest))]).when(.members(.join), by: .service(for: newcomer))
      .thenRecorded(.members(.joined(newcomer, role: .guest, by: .service)))
    workspace().when(.members(.join), by: .service(for: carol)).thenAlreadyDone(at: 4)
    workspace().when(.members(.join), by: .user(newcomer)).thenRejected(.serviceOnly)
  }

  @Test("how many members a workspace takes", arguments: [(99_999, true), (100_000, false), (100_001, false)])
  func memberCount(count: Int, isAccepted: Bool) {
    var members: [UserID: WorkspaceMember] = [alice: WorkspaceMember(role: .owner, joined: .at(2))]
    for number in 1..<UInt64(count) {
      members[id(1000 + number)] = WorkspaceMember(role: .member, joined: .at(3))
    }
    var full = workspace()
    full.state = .open(
      Workspace(
        creationFingerprint: nil, created: .at(1), members: members,
        invited: [newcomer: Invitation(role: .member, made: .at(4))],
        invites: [link: WorkspaceInviteState(invite: .into(), created: .at(4))]))
    for outcome in [
      full.when(.members(.join), by: .service(for: newcomer)), full.when(.invitations(.accept), by: .user(newcomer)),
      full.when(.sharing(.acceptInvite(link)), by: .user(newcomer)),
    ] {
      if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.tooManyWorkspaceMembers) }
    }
  }

  // MARK: Members

  @Test("members can leave; the owner must transfer first, even if nobody else is a member")
  func leaves() {
    for user in [bob, carol, dave] {
      workspace().when(.members(.leave), by: .user(user)).thenRecorded(.members(.left(user)))
    }
    workspace().when(.members(.leave), by: .user(alice)).thenRejected(.ownerMustTransfer)
    workspace([.members(.left(bob)), .members(.left(carol)), .members(.left(dave))]).when(
      .members(.leave), by: .user(alice)
    )
    .thenRejected(.ownerMustTransfer)
    workspace([.members(.roleChanged(bob, .owner)), .members(.roleChanged(alice, .administrator))]).when(
      .members(.leave), by: .user(alice)
    )
    .thenAccepted()
  }

  @Test("everyone removes those below them, and nobody the owner")
  func removes() {
    workspace().when(.members(.remove(bob)), by: .user(alice)).thenRecorded(.members(.removed(bob)))
    workspace().when(.members(.remove(carol)), by: .user(bob)).thenRecorded(.members(.removed(carol)))
    workspace().when(.members(.remove(alice)), by: .user(bob)).thenRejected(.forbidden)
    workspace().when(.members(.remove(bob)), by: .user(bob)).thenRejected(.forbidden)
    workspace().when(.members(.remove(bob)), by: .service()).thenAccepted()
    workspace().when(.members(.remove(alice)), by: .service()).thenRejected(.ownerMustTransfer)
    workspace().when(.members(.remove(newcomer)), by: .user(alice)).thenRejected(.memberNotFound)
  }

  @Test("a user can give members below them a role up to their own, and ownership only by a transfer")
  func roles() {
    workspace().when(.members(.changeRole(dave, .administrator)), by: .user(bob))
      .thenRecorded(.members(.roleChanged(dave, .administrator)))
    workspace().when(.members(.changeRole(bob, .guest)), by: .user(alice)).thenAccepted()
    workspace([.members(.roleChanged(carol, .administrator))]).when(
      .members(.changeRole(carol, .guest)), by: .user(bob)
    )
    .thenRejected(.forbidden)
    workspace().when(.members(.changeRole(bob, .member)), by: .user(bob)).thenAccepted()
    workspace().when(.members(.changeRole(carol, .administrator)), by: .user(carol)).thenRejected(.roleNotAllowed)
    workspace().when(.members(.changeRole(newcomer, .member)), by: .user(newcomer)).thenRejected(.workspaceNotFound)
    workspace().when(.members(.changeRole(carol, .owner)), by: .user(alice)).thenRejected(.roleNotAllowed)
    workspace().when(.members(.changeRole(alice, .member)), by: .user(alice)).thenRejected(.ownerMustTransfer)
    workspace().when(.members(.changeRole(alice, .member)), by: .user(bob)).thenRejected(.forbidden)
    workspace().when(.members(.changeRole(alice, .member)), by: .service()).thenRejected(.ownerMustTransfer)
    workspace().when(.members(.changeRole(newcomer, .member)), by: .user(alice)).thenRejected(.memberNotFound)
    workspace().when(.members(.transfer(to: carol)), by: .user(alice))
      .thenRecorded(.members(.roleChanged(carol, .owner)), .members(.roleChanged(alice, .administrator)))
    workspace().when(.members(.transfer(to: carol)), by: .service())
      .thenRecorded(.members(.roleChanged(carol, .owner)), .members(.roleChanged(alice, .administrator)))
    workspace().when(.members(.transfer(to: carol)), by: .user(bob)).thenRejected(.forbidden)
    workspace().when(.members(.transfer(to: alice)), by: .user(alice)).thenRejected(.roleNotAllowed)
    workspace().when(.members(.transfer(to: newcomer)), by: .user(alice)).thenRejected(.memberNotFound)
  }
}
