package import ChatPrimitives

/// Keeps what a user wrote, or what is in a room, although an account is deleted.
package struct LegalHold: Sendable, Hashable {
  package enum Target: Sendable, Hashable {
    case user(UserID)
    case room(RoomID)

    package var id: UUIDBytes {
      switch self {
      case .user(let user): user.uuid
      case .room(let room): room.uuid
      }
    }
  }

  package var target: Target
  package var reason: String

  package init(_ target: Target, reason: String) {
    self.target = target
    self.reason = reason
  }

  package var fingerprint: Fingerprint {
    Fingerprint(.text("legal-hold.place"), .id(target.id), .text(reason))
  }
}

extension Fingerprint {
  static func legalHoldLift(_ target: UUIDBytes) -> Fingerprint { Fingerprint(.text("legal-hold.lift"), .id(target)) }
}

/// The legal holds that are in force. There is at most one for each user and room.
package struct LegalHolds: Sendable, Equatable {
  package struct Entry: Sendable, Hashable {
    package var hold: LegalHold
    package var placed: Stamp

    package init(hold: LegalHold, placed: Stamp) {
      self.hold = hold
      self.placed = placed
    }
  }

  /// By the ID of the user or the room.
  package private(set) var entries: [UUIDBytes: Entry] = [:]

  package init() {}

  // MARK: Decide

  package enum Command: Sendable, Equatable {
    case place(LegalHold)
    case lift(LegalHold.Target)

    package var fingerprint: Fingerprint {
      switch self {
      case .place(let hold): hold.fingerprint
      case .lift(let target): .legalHoldLift(target.id)
      }
    }
  }

  /// - Parameters:
  ///   - earlier: what was done before under the same key.
  ///   - isErased: whether the target is a user of whom nothing is left to hold.
  package func decide(
    _ command: Command, _ context: CommandContext, earlier: KnownCommand?, isErased: (LegalHold.Target) -> Bool
  ) throws(Rejection) -> Decision<ServerEvent> {
    guard context.isByService else { throw .serviceOnly }
    if let earlier { return .alreadyDone(try earlier.stamp(for: command.fingerprint.scoped(to: .zero))) }
    switch command {
    case .place(let hold):
      return try place(hold, under: context.command, isErased: isErased(hold.target))
    case .lift(let target):
      guard let entry = entries[target.id], entry.hold.target == target else { throw .legalHoldNotFound }
      return .record([.legalHoldLifted(target.id)])
    }
  }

  /// Placing a hold again changes its reason. The same hold is recorded again only under a key.
  private func place(
    _ hold: LegalHold, under key: CommandID?, isErased: Bool
  ) throws(Rejection) -> Decision<ServerEvent> {
    try TextRules.legalHoldReason(hold.reason)
    guard !isErased else { throw .alreadyErased }
    if let entry = entries[hold.target.id] {
      if entry.hold == hold, key == nil { return .alreadyDone(entry.placed) }
      return .recordAgain([.legalHoldPlaced(hold)])
    }
    guard entries.count < Limits.legalHolds else { throw .tooManyLegalHolds }
    return .record([.legalHoldPlaced(hold)])
  }

  // MARK: Evolve

  package mutating func place(_ hold: LegalHold, _ stamp: Stamp) {
    entries[hold.target.id] = Entry(hold: hold, placed: stamp)
  }

  package mutating func lift(_ target: UUIDBytes) { entries[target] = nil }
}
