package import ChatDomain
package import ChatPrimitives
import ChatProjections
import EventStore

extension ChatService {
  /// Proves that the account's owner asks for its deletion.
  package enum DeletionProof: Sendable {
    case password(String)
    /// A login of the account, proved by an ID token that the caller has checked.
    case identity(Identity)
  }

  /// Deletes the acting user's account. What the user wrote is erased afterwards, see `Eraser`.
  /// - Parameter proof: from the account's owner; a service may omit it.
  package func deleteAccount(
    proof: DeletionProof?, by principal: Principal, command: CommandID?
  ) async throws(ServiceError) -> ChatOutcome {
    guard let user = principal.user else { throw .rejected(.userNotFound) }
    let (isDeleted, stored) = try await accounts { accounts in
      (try accounts.erasure(of: user) != nil, try accounts.credential(of: user))
    }
    let shown: LoginProof
    switch proof {
    // The password was deleted with the account. The decision recognises the retry.
    case _ where isDeleted: shown = .service
    case .password(let password):
      guard let credential = stored else { throw .rejected(.passwordMissing) }
      guard try await isPassword(password, of: user, credential) else { throw .rejected(.passwordWrong) }
      shown = .password(version: credential.version)
    case .identity(let identity): shown = .identity(identity)
    case nil: shown = .service
    }
    return try await inParts { () async throws(ServiceError) in
      try await performUser(.deletion(.deleteAccount(proof: shown)), by: principal, command: command)
    }
  }

  /// Deletes an account in the name of a service.
  package func deleteAccount(
    of user: UserID, by service: Principal, command: CommandID?
  ) async throws(ServiceError) -> ChatOutcome {
    try await inParts { () async throws(ServiceError) in
      try await perform(Request(service, .user(user, .deletion(.deleteAccount(proof: .service))), command: command))
    }
  }

  /// Repeats the command until the account is deleted: one command ends at most `Limits.deletionEvents` memberships and
  /// other things. If the server stops in between, a retry continues.
  private func inParts(
    _ perform: () async throws(ServiceError) -> ChatOutcome
  ) async throws(ServiceError) -> ChatOutcome {
    while true {
      let outcome = try await perform()
      if case .user(_, .deletion)? = outcome.events.last?.event { return outcome }
      if !outcome.isNew { return outcome }
    }
  }

  // MARK: - Legal holds

  /// - Throws: `userNotFound` or `roomNotFound` if the target never existed. A deleted one can be held.
  package func placeLegalHold(
    _ hold: LegalHold, by service: Principal, command: CommandID?
  ) async throws(ServiceError) -> ChatOutcome {
    switch hold.target {
    case .user(let user):
      guard try await accounts({ try $0.user(user) != nil || $0.erasure(of: user) != nil }) else {
        throw .rejected(.userNotFound)
      }
    case .room(let room):
      guard try await rooms({ try $0.room(room) != nil || $0.isDeleted(room) }) else { throw .rejected(.roomNotFound) }
    }
    return try await perform(Request(service, .legalHold(.place(hold)), command: command))
  }

  package func liftLegalHold(
    on target: LegalHold.Target, by service: Principal, command: CommandID?
  ) async throws(ServiceError) -> ChatOutcome {
    try await perform(Request(service, .legalHold(.lift(target)), command: command))
  }

  // MARK: - The server's own commands

  func erasing(_ operation: ChatCommand.Operation) -> Request { Request(Principal(service: eraser), operation) }

  /// Runs something on the writer's thread, between two commands.
  package func runOnWriter(_ body: @escaping @Sendable () -> Void) { pipeline.maintain { _ in body() } }

  /// The service that the log names for the commands of an erasure.
  private var eraser: ServiceID {
    let bytes = keys.authenticationCode(for: "eraser-service-id", []).prefix(UUIDBytes.byteCount)
    return ServiceID(UUIDBytes(bytes: bytes) ?? .zero)
  }
}
