public import ChatPrimitives

/// `DELETE /v1/me`. A service that acts for the user can omit all of it.
public struct DeleteAccountRequest: RequestObject {
  public let currentPassword: String?
  /// Instead of the password: a fresh ID token of a login that is linked to the account.
  public let idToken: String?
  public let nonce: String?

  public init(currentPassword: String? = nil, idToken: String? = nil, nonce: String? = nil) {
    self.currentPassword = currentPassword
    self.idToken = idToken
    self.nonce = nonce
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case currentPassword
    case idToken
    case nonce
  }
}

/// A deleted account, and how far its erasure is.
public struct AccountErasure: ResponseObject {
  public var userId: UserID
  /// `running`, `held` (a legal hold makes it wait), `delayed` (the last attempt failed; the server tries again) or
  /// `complete`.
  public var state: String
  public var deletedAt: Timestamp
  /// Null until the erasure is complete.
  @Nullable public var erased: CompleteErasure?
  /// Where the account was deleted.
  public var position: LogPosition

  public init(
    userId: UserID, state: String, deletedAt: Timestamp, erased: CompleteErasure?, position: LogPosition
  ) {
    self.userId = userId
    self.state = state
    self.deletedAt = deletedAt
    self.erased = erased
    self.position = position
  }
}

/// What was erased. The record at `position` says the same; its inclusion proof is the receipt.
public struct CompleteErasure: Codable, Sendable, Hashable {
  public var erasedAt: Timestamp
  /// Records of the user that have no content any more.
  public var erasedRecords: UInt64
  /// Records of the user that rooms of others depend on. They have IDs, numbers and roles.
  public var keptRecords: UInt64
  public var position: LogPosition

  public init(erasedAt: Timestamp, erasedRecords: UInt64, keptRecords: UInt64, position: LogPosition) {
    self.erasedAt = erasedAt
    self.erasedRecords = erasedRecords
    self.keptRecords = keptRecords
    self.position = position
  }
}

/// `GET /v1/admin/erasures`: deleted accounts, the newest deletion first.
public struct ErasureList: ListObject {
  public var erasures: [AccountErasure]
  @Nullable public var nextCursor: String?

  public init(erasures: [AccountErasure], nextCursor: String?) {
    self.erasures = erasures
    self.nextCursor = nextCursor
  }
}

/// `PUT /v1/admin/legal-holds/users/{userId}` and `…/rooms/{roomId}`
public struct PlaceLegalHoldRequest: RequestObject {
  public let reason: String

  public init(reason: String) {
    self.reason = reason
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case reason
  }
}

/// A legal hold that is in force. Has either `userId` or `roomId`.
public struct LegalHold: ResponseObject {
  @Nullable public var userId: UserID?
  @Nullable public var roomId: RoomID?
  /// In the receipt for lifting a hold, null.
  @Nullable public var reason: String?
  /// In the receipt for lifting a hold, null.
  @Nullable public var placedAt: Timestamp?
  /// In the response to a write, the position of that write; in a read, where it was placed.
  public var position: LogPosition

  public init(
    userId: UserID?, roomId: RoomID?, reason: String?, placedAt: Timestamp?, position: LogPosition
  ) {
    self.userId = userId
    self.roomId = roomId
    self.reason = reason
    self.placedAt = placedAt
    self.position = position
  }
}

/// `GET /v1/admin/legal-holds`: the newest hold first.
public struct LegalHoldList: ListObject {
  public var legalHolds: [LegalHold]
  @Nullable public var nextCursor: String?

  public init(legalHolds: [LegalHold], nextCursor: String?) {
    self.legalHolds = legalHolds
    self.nextCursor = nextCursor
  }
}
