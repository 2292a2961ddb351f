import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventLog
import EventStore
import Foundation
import Logging
import NIOCore

/// A service with a real log and real SQLite files. `close` removes its directory unless it is to be kept.
final class ServiceFixture: Sendable {
  let directory: String
  let log: EmbeddedLog
  let opened: ServiceOpening.Opened
  private let keepsDirectory: Bool

  var chat: ChatService { opened.chat }

  init(
    directory: String = FileManager.default.temporaryDirectory.appendingPathComponent("hansard-\(UUID())").path,
    keepsDirectory: Bool = false, passwordLogRounds: UInt8 = 10, quotas: Quotas = Quotas(),
    rules: AccountRules = AccountRules(), clock: @escaping @Sendable () -> Timestamp = { ChatService.now() },
    readings: (@Sendable () -> TrustedTime.Reading)? = nil
  ) async throws {
    self.directory = directory
    self.keepsDirectory = keepsDirectory
    log = try EmbeddedLog.open(
      directory: directory, options: LogOptions(segmentBytes: 8 << 20, preparesAhead: false))
    var opening = ServiceOpening(
      directory: directory, tokenLifetimeMilliseconds: 900_000,
      logger: Logger(label: "test") { StreamLogHandler.standardError(label: $0) })
    opening.passwordCost.logRounds = passwordLogRounds
    opening.quotas = quotas
    opening.rules = rules
    opening.clock = readings.map { .readings($0) } ?? .believed(clock)
    opened = try await opening.open(log: log, lastTime: log.lastTime)
  }

  func close() throws {
    try opened.close()
    if !keepsDirectory { try FileManager.default.removeItem(atPath: directory) }
  }

  // MARK: Shorthands

  static let service = ServiceID(UUIDBytes(high: 9, low: 9))

  func user(_ number: UInt64) async throws -> UserID {
    try await register(fixed(number), externalID: "crm-\(number)")
  }

  func upload(_ bytes: [UInt8], by user: UserID, name: String? = nil) async throws -> Upload {
    let body = AsyncStream<ByteBuffer> { continuation in
      continuation.yield(ByteBuffer(bytes: bytes))
      continuation.finish()
    }
    return try await chat.upload(body, name: name, by: Principal(user: user))
  }

  func register(_ id: UserID, externalID: String) async throws -> UserID {
    let registration = Registration(
      nickname: "user \(externalID)", email: nil, externalID: externalID, credential: nil,
      commitmentKey: ChatService.randomBytes(Registration.commitmentKeyBytes))
    _ = try await chat.perform(chat.register(id, registration, by: Principal(service: Self.service)))
    return id
  }

  func send(_ text: String, _ number: UInt64, to room: RoomID, by user: UserID) async throws -> ChatOutcome {
    try await chat.perform(try chat.send(.plain(text), as: fixed(number), to: room, by: Principal(user: user)))
  }
}

func fixed<Entity>(_ number: UInt64) -> ID<Entity> { ID(UUIDBytes(high: 0x0199_0000_0000_7000, low: number)) }

/// The rejection that the body throws. Nil if it throws nothing or another error.
func rejection(of body: () async throws -> Void) async -> Rejection? {
  do {
    try await body()
    return nil
  } catch ServiceError.rejected(let rejection) {
    return rejection
  } catch ServiceError.malformed(let flaws) {
    if case .rejection(let rejection)? = flaws.first?.reason { return rejection }
    return nil
  } catch {
    return nil
  }
}
