import ChatDomain
import ChatPrimitives
import ChatService
import EventLogSimulation

/// Sends every query that clients can send to the service, and compares the results with the model.
struct Comparison {
  let chat: ChatService
  let model: ChatModel
  /// Draws page sizes and positions.
  var random: SeededRandom

  /// - Throws: `Mismatch` unless both are equal.
  func expect<T: Equatable>(_ what: String, _ expected: T, _ found: T) throws {
    if let mismatch = Mismatch(what, expected: expected, found: found) { throw mismatch }
  }

  /// The result or the rejection of a query.
  func result<T: Equatable>(_ query: () async throws(ServiceError) -> T) async throws -> QueryResult<T> {
    do {
      return .found(try await query())
    } catch .rejected(let rejection) {
      return .refused(rejection.rawValue)
    } catch {
      throw Mismatch("a query failed", ["  \(error)"])
    }
  }
}

/// Everything that a command has touched: the objects that it named, and the objects of its events.
struct Touched {
  var users: Set<UserID> = []
  var rooms: Set<RoomID> = []
  var workspaces: Set<WorkspaceID> = []
  var messages: Set<MessageID> = []
  var commands: Set<ModelCommand> = []

  init(_ step: Step, _ events: [RecordedEvent]) {
    if let user = step.user { users.insert(user) }
    if let room = step.room { rooms.insert(room) }
    if let workspace = step.workspace { workspaces.insert(workspace) }
    for recorded in events {
      if let command = ModelCommand(recorded) { commands.insert(command) }
      switch recorded.event {
      case .user(let id, _): users.insert(id)
      case .room(let id, let event):
        rooms.insert(id)
        note(event)
      case .workspace(let id, _): workspaces.insert(id)
      case .server: break
      }
    }
  }

  private mutating func note(_ event: RoomEvent) {
    switch event {
    case .members(.joined(let user, _, _)), .members(.added(let user, _)), .members(.left(let user)),
      .members(.removed(let user)),
      .members(.banned(let user)):
      users.insert(user)
    case .messages(.sent(let id, _, _, _)), .messages(.edited(let id, _, _)), .messages(.deleted(let id, _)),
      .scheduling(.scheduled(let id, _)), .scheduling(.changed(let id, _)), .scheduling(.cancelled(let id)),
      .scheduling(.failed(let id, _)):
      messages.insert(id)
    case .lifecycle, .sharing, .members(.admissionRepeated), .members(.roleChanged), .members(.unbanned),
      .members(.silenced), .members(.muted), .members(.notificationsSet), .members(.hidden), .members(.shown),
      .annotations, .reading, .threads, .reports,
      .erased:
      break
    }
  }
}

extension Comparison {
  /// Compares everything that a command has touched, its rooms for all users, and everything that one random user sees.
  mutating func compare(_ touched: Touched, users: [UserID]) async throws {
    let bystander = users[random.below(users.count)]
    for user in touched.users.sorted() {
      try await compareAccount(user)
      try await compareLists(of: user)
    }
    try await compareLists(of: bystander)
    try await compareAllReports()
    try await compareUsage()
    try await compareCommands(Array(touched.commands) + someCommands())
    for workspace in touched.workspaces.sorted() {
      for user in users { try await compareWorkspace(workspace, for: user) }
      for channel in model.channels(of: workspace) {
        for user in users { try await compareRoom(channel.id, for: user) }
      }
    }
    for room in touched.rooms.sorted() {
      try await compareIndex(room, mentioned: touched.messages)
      for user in users { try await compareRoom(room, for: user) }
      try await compareDeeply(room, for: bystander)
      for user in touched.users.sorted() { try await compareDeeply(room, for: user) }
    }
  }

  /// Compares lists that cover all rooms of a user.
  private mutating func compareLists(of user: UserID) async throws {
    try await compareRooms(of: user)
    try await compareWorkspaces(of: user)
    try await compareThreads(of: user)
    try await compareScheduled(of: user)
    try await compareSearch(of: user)
  }

  /// A few commands from any time of the run.
  private mutating func someCommands() -> [ModelCommand] {
    let all = model.commands.keys.sorted { ($0.actor, $0.key) < ($1.actor, $1.key) }
    return all.isEmpty ? [] : (0..<3).map { _ in all[random.below(all.count)] }
  }

  /// Compares everything for every user.
  mutating func compareAll(users: [UserID]) async throws {
    for user in users {
      try await compareAccount(user)
      try await compareLists(of: user)
    }
    try await compareAllReports()
    try await compareUsage()
    try await compareCommands(Array(model.commands.keys))
    for workspace in model.workspaces.keys.sorted() {
      for user in users { try await compareWorkspace(workspace, for: user) }
    }
    for room in model.rooms.keys.sorted() {
      try await compareIndex(room, mentioned: nil)
      for user in users {
        try await compareRoom(room, for: user)
        try await compareDeeply(room, for: user)
      }
    }
  }
}
