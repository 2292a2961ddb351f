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
    Fingerprint(.text("legal-hold.place"), .text(target.kind), .id(target.id), .text(reason))
  }

  /// Which hold was lifted.
  package enum Lift: Sendable, Hashable {
    case on(Target)
    /// The hold on the user or the room with this ID. Earlier versions did not record which; there was only one then.
    case onID(UUIDBytes)

    package var id: UUIDBytes {
      switch self {
      case .on(let target): target.id
      case .onID(let id): id
      }
    }

    package var targets: [Target] {
      switch self {
      case .on(let target): [target]
      case .onID(let id): [.user(UserID(id)), .room(RoomID(id))]
      }
    }

    package var fingerprint: Fingerprint {
      switch self {
      case .on(let target): Fingerprint(.text("legal-hold.lift"), .text(target.kind), .id(target.id))
      case .onID(let id): Fingerprint(.text("legal-hold.lift"), .id(id))
      }
    }
  }
}

extension LegalHold.Target {
  /// A user and a room can have the same ID.
  fileprivate var kind: String {
    switch self {
    case .user: "user"
    case .room: "room"
    }
  }
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

  package private(set) var entries: [LegalHold.Target: Entry] = [:]

  package init() {}

  // MARK: Decide

  package enum Command: Sendable, Equatable {
    case place(LegalHold)
    case lift(LegalHold.Target)

    package var fingerprint: Fingerprint {
      switch self {
      case .place(let hold): hold.fingerprint
      case .lift(let target): LegalHold.Lift.on(target).fingerprint
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
      guard entries[target] != nil else { throw .legalHoldNotFound }
      return .record([.legalHoldLifted(.on(target))])
    }
  }

  /// Placing a hold again changes its reason. The same hold is recorded again only under a key.
  private func place(
    _ hold: LegalHold, under key: CommandID?, isErased: Bool
  ) throws(Rejection) -> Decision<ServerEvent> {
    try TextRules.legalHoldReason(hold.reason)
    guard !isErased else { throw .alreadyErased }
    if let entry = entries[hold.target] {
      if entry.hold == hold, key == nil { return .alreadyDone(entry.placed) }
      return .recordAgain([.legalHoldPlaced(hold)])
    }
    guard entries.count < Limits.legalHolds else { throw .tooManyLegalHolds }
    return .record([.legalHoldPlaced(hold)])
  }

  // MARK: Evolve

  package mutating func place(_ hold: LegalHold, _ stamp: Stamp) {
    entries[hold.target] = Entry(hold: hold, placed: stamp)
  }

  package mutating func lift(_ lift: LegalHold.Lift) {
    for target in lift.targets { entries[target] = nil }
  }
}
