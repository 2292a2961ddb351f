import ChatDomain
import ChatPrimitives
import ChatService
import EventLogSimulation

extension CommandGenerator {
  /// Registers one of the users: every third with a password, the others as the app's own server registers them.
  mutating func register(_ user: UserID) -> Step {
    let number = user.uuid.low
    let nickname = text()
    if number % 3 == 0 {
      passwords[user, default: [:]][1] = Self.firstPassword(of: user)
      let account = ChatService.NewAccount(
        id: user, nickname: nickname, email: "U\(number)@example.org", password: Self.firstPassword(of: user),
        externalID: nil)
      return Step("u\(user.short) registers with a password", user: user) { chat async throws(ServiceError) in
        Step.Receipt(try await chat.register(account, by: Principal()).0)
      }
    }
    let registration = Registration(
      nickname: nickname, email: nil, externalID: "crm-\(number)", credential: nil,
      commitmentKey: [UInt8](repeating: UInt8(number), count: Registration.commitmentKeyBytes))
    return Step("a service registers u\(user.short)", user: user, rights: []) { chat async throws(ServiceError) in
      Step.Receipt(try await chat.perform(chat.register(user, registration, by: Principal(service: Numbered.service))))
    }
  }

  static func firstPassword(of user: UserID) -> String { "password of \(user.uuid.low)" }

  /// A second registration, under an ID or an external ID that is already in use.
  mutating func register(_ model: ChatModel) -> Step? {
    let registration = Registration(
      nickname: text(), email: nil, externalID: "crm-\(random.within(1...users.count))", credential: nil,
      commitmentKey: [UInt8](repeating: 1, count: Registration.commitmentKeyBytes))
    let user = chance(50) ? anyone() : Numbered.user(1000 + random.below(1000))
    return Step("a service registers u\(user.short) once more", user: user, rights: []) {
      chat async throws(ServiceError) in
      Step.Receipt(try await chat.perform(chat.register(user, registration, by: Principal(service: Numbered.service))))
    }
  }

  mutating func changeProfile(_ model: ChatModel) -> Step? {
    let (user, nickname) = (anyone(), text())
    let edit = ProfileEdit(
      nickname: chance(70) ? nickname : nil, picture: picture(by: user), custom: customData())
    return changeProfile(edit, of: user)
  }

  mutating func changeProfile(_ edit: ProfileEdit, of user: UserID) -> Step {
    let key = key()
    return Step(
      "u\(user.short) takes the name \(edit.nickname ?? "-"), picture \(edit.picture.map { "\($0)" } ?? "-") under k\(key.short)",
      user: user
    ) {
      chat async throws(ServiceError) in
      Step.Receipt(try await chat.changeProfile(edit, by: Principal(user: user), command: key))
    }
  }

  // MARK: - Sessions

  mutating func startSession(_ model: ChatModel) -> Step? {
    let user = anyone()
    let device = chance(60) ? pick(model.users[user]?.devices ?? [])?.id : nil
    let session: SessionID = newID()
    if let email = model.users[user]?.email, let password = password(of: user, model),
      let version = model.users[user]?.credential?.version
    {
      let rights: [Right] = [
        .account, .session(session), .firstPair(session), .address(email),
        .password(version: version, else: "credentials_rejected"),
      ]
      return Step("u\(user.short) logs in as s\(session.short)", user: user, rights: rights) {
        chat async throws(ServiceError) in
        Step.Receipt(
          try await chat.startSession(.given(session), as: .email(email), password: password, device: device))
      }
    }
    return startSession(session, of: user, device)
  }

  /// A service starts the session.
  func startSession(_ session: SessionID, of user: UserID, _ device: DeviceID? = nil) -> Step {
    let principal = Principal(user: user, service: Numbered.service)
    let rights: [Right] = [.account, .session(session), .firstPair(session)]
    return Step("a service starts s\(session.short) of u\(user.short)", user: user, rights: rights) {
      chat async throws(ServiceError) in
      Step.Receipt(try await chat.startSession(.given(session), device: device, by: principal))
    }
  }

  mutating func refreshSession(_ model: ChatModel) -> Step? {
    let user = anyone()
    guard let session = pick(model.users[user]?.sessions ?? []) else { return nil }
    let presented = chance(95) ? session.generation : max(1, session.generation - 1)
    return refresh(session.id, of: user, presented)
  }

  /// The old token pair is valid until the new one is first used. Using it after that counts as theft and ends the
  /// session.
  func refresh(_ session: SessionID, of user: UserID, _ presented: UInt32) -> Step {
    let name = "u\(user.short) refreshes s\(session.short) with generation \(presented)"
    return Step(name, user: user, rights: [.account, .session(session)]) { model in
      guard let now = model.users[user]?.session(session) else { return true }
      return now.end != nil || now.generation <= presented + 1
    } perform: { chat async throws(ServiceError) in
      Step.Receipt(try await chat.refreshSession(session, of: user, presented: presented))
    }
  }

  mutating func endSession(_ model: ChatModel) -> Step? {
    let user = anyone()
    guard let session = pick(model.users[user]?.sessions ?? [])?.id else { return nil }
    return end(session, of: user)
  }

  mutating func end(_ session: SessionID, of user: UserID) -> Step {
    let key = key()
    return Step("u\(user.short) ends s\(session.short) under k\(key.short)", user: user) {
      chat async throws(ServiceError) in
      Step.Receipt(try await chat.endSession(session, by: Principal(user: user), command: key))
    }
  }

  // MARK: - Devices

  mutating func setDevice(_ model: ChatModel) -> Step? {
    let user = anyone()
    let known = pick(model.users[user]?.devices ?? [])?.id
    let device: DeviceID = chance(50) ? known ?? newID() : newID()
    return set(device, of: user, deviceDescription())
  }

  mutating func set(_ device: DeviceID, of user: UserID, _ description: DeviceDescription) -> Step {
    let key = key()
    let name =
      "u\(user.short) describes d\(device.short) as \(description.name ?? "nothing"), "
      + "\(description.tokens.map(\.token)) under k\(key.short)"
    return Step(name, user: user) { chat async throws(ServiceError) in
      Step.Receipt(try await chat.setDevice(device, description, by: Principal(user: user), command: key))
    }
  }

  /// Uses few different tokens, so that one appears on several devices.
  private mutating func deviceDescription() -> DeviceDescription {
    var tokens: [PushToken] = []
    if chance(50) { tokens.append(PushToken(provider: .apns, token: "apns-\(random.below(8))")) }
    if chance(50) { tokens.append(PushToken(provider: .fcm, token: "fcm-\(random.below(8))")) }
    let name = chance(80) ? text() : nil
    // Derived from the name, so that the other fields do not change what each seed draws.
    let levels: [NotificationLevel] = [.all, .mentions, .all, .none, .all]
    let length = (name ?? "").utf8.count
    if length.isMultiple(of: 2) { tokens.append(PushToken(provider: .webPush, token: "web-\(length % 8)")) }
    let environments: [APNsEnvironment?] = [nil, .production, .sandbox]
    return DeviceDescription(
      name: name, type: chance(50) ? "ios" : nil, osVersion: chance(50) ? "18" : nil, tokens: tokens,
      notifications: levels[length % levels.count], apnsEnvironment: environments[length % environments.count],
      language: length.isMultiple(of: 3) ? nil : "pt-BR", roomChanges: length.isMultiple(of: 4))
  }

  mutating func removeDevice(_ model: ChatModel) -> Step? {
    let user = anyone()
    guard let device = pick(model.users[user]?.devices ?? [])?.id else { return nil }
    return remove(device, of: user)
  }

  mutating func remove(_ device: DeviceID, of user: UserID) -> Step {
    let key = key()
    return Step("u\(user.short) removes d\(device.short) under k\(key.short)", user: user) {
      chat async throws(ServiceError) in
      Step.Receipt(try await chat.removeDevice(device, by: Principal(user: user), command: key))
    }
  }

  /// Removes a token as push does when the provider reports it as dead.
  mutating func invalidateToken(_ model: ChatModel) -> Step? {
    let user = anyone()
    guard let device = pick(model.users[user]?.devices ?? []), let token = pick(device.description.tokens) else {
      return nil
    }
    return invalidate(token, of: device.id, of: user)
  }

  /// If the device has set the token again since, another report of the provider is a different command.
  func invalidate(_ token: PushToken, of device: DeviceID, of user: UserID) -> Step {
    let name = "\(token.token) of d\(device.short) of u\(user.short) is dead"
    return Step(name, user: user, rights: [.token(token, of: device)]) { model in
      model.users[user]?.device(device)?.description.tokens.contains(token) != true
    } perform: { chat async throws(ServiceError) in
      Step.Receipt(try await chat.invalidatePushToken(token, of: device, of: user))
    }
  }
}
