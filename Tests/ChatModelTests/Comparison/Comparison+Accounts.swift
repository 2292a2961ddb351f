import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventLogSimulation

extension Comparison {
  /// Compares a user with sessions and devices.
  func compareAccount(_ id: UserID) async throws {
    let what = "of u\(id.short)"
    guard let user = model.users[id], user.registration != nil else {
      let found = try await result { () async throws(ServiceError) in SeenUser(try await chat.profile(of: id)) }
      return try expect("profile \(what)", .refused("user_not_found"), found)
    }
    let profile = SeenUser(try await chat.profile(of: id))
    try expect("profile \(what)", SeenUser(user), profile)
    if let externalID = user.externalID {
      try expect("external ID \(what)", id, try await chat.user(withExternalID: externalID)?.id)
    }
    try expect("u\(id.short) at the gate", user.disabled != nil, chat.isDisabled(id))
    let logins = try await chat.account(of: id).1.map(\.identity)
    try expect("logins elsewhere \(what)", Set(user.identities), Set(logins))
    try expect("preferences \(what)", user.preferences, try await chat.preferences(of: id))
    try await compareBlocks(of: user)
    try await compareMedia(for: id)
    let open = try await chat.sessions(of: id).map { ModelSession($0) }
    try expect("open sessions \(what)", latestFirst(user.openSessions), latestFirst(open))
    for session in user.sessions.suffix(5) {
      let found = ModelSession(try await chat.session(session.id, of: id))
      try expect("session s\(session.id.short) \(what)", session, found)
      // A session that ended longer ago than an access token is valid may be forgotten there, because no token of it is
      // valid.
      let forgotten = chat.now().adding(milliseconds: -ModelFixture.tokenLifetimeMilliseconds)
      if let ended = session.ended, ended.time < forgotten { continue }
      try expect("s\(session.id.short) at the gate", session.end != nil, chat.isEnded(session.id, of: id))
    }
    let devices = try await chat.devices(of: id).map { ModelDevice($0) }
    try expect("devices \(what)", byID(user.devices.map(\.shown)), byID(devices))
    for device in user.devices.suffix(3) {
      try expect("device d\(device.id.short)", device.shown, ModelDevice(try await chat.device(device.id, of: id)))
    }
  }

  /// The newest block first, in pages of two.
  private func compareBlocks(of user: ModelUser) async throws {
    var (found, cursor): ([ModelBlock], LogPosition?) = ([], nil)
    repeat {
      let page = try await chat.blockedUsers(of: user.id, after: cursor, limit: 2)
      found += page.blocked.map { ModelBlock(user: $0.user, since: $0.blocked) }
      try expectProfiles(page.profiles, of: page.blocked.map(\.user))
      cursor = page.next
    } while cursor != nil && found.count <= user.blocks.count
    try expect("blocked by u\(user.id.short)", user.blocks.reversed(), found)
  }

  private func latestFirst(_ sessions: [ModelSession]) -> [ModelSession] {
    sessions.sorted { $0.started.position > $1.started.position }
  }

  private func byID(_ devices: [ModelDevice]) -> [ModelDevice] { devices.sorted { $0.id < $1.id } }
}
