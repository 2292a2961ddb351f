public import ChatPrimitives

/// `PATCH /v1/me/preferences`. At least one field is required. An absent field does not change.
public struct UpdatePreferencesRequest: RequestObject {
  /// Whether others see how far the user has read.
  public let sharesReadMarkers: Bool?
  /// Whether others can write to the user in direct rooms of two, and create direct rooms with the user.
  public let acceptsDirectMessages: Bool?
  /// Whether others see that the user is online or typing.
  public let sharesPresence: Bool?
  /// `all`, `mentions` or `none`: which notifications the user gets in rooms without a level of their own.
  public let notifications: String?
  /// The kinds of notifications that the user switches off. The list replaces the previous one.
  public let mutedKinds: [String]?
  /// Null removes the quiet hours; if absent, they do not change.
  public let quietHours: Strict<QuietHoursRequest>??
  /// Whether notifications contain texts and names.
  public let showsPreviews: Bool?
  /// `everyone`, `known` or `nobody`: who may create a direct room with the user.
  public let directRooms: String?
  /// `everyone`, `known` or `nobody`: who may add the user to a group.
  public let groupAdditions: String?

  public init(
    sharesReadMarkers: Bool? = nil, acceptsDirectMessages: Bool? = nil, sharesPresence: Bool? = nil,
    notifications: String? = nil, mutedKinds: [String]? = nil, quietHours: Strict<QuietHoursRequest>?? = nil,
    showsPreviews: Bool? = nil, directRooms: String? = nil, groupAdditions: String? = nil
  ) {
    self.sharesReadMarkers = sharesReadMarkers
    self.acceptsDirectMessages = acceptsDirectMessages
    self.sharesPresence = sharesPresence
    self.notifications = notifications
    self.mutedKinds = mutedKinds
    self.quietHours = quietHours
    self.showsPreviews = showsPreviews
    self.directRooms = directRooms
    self.groupAdditions = groupAdditions
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case sharesReadMarkers
    case acceptsDirectMessages
    case sharesPresence
    case notifications
    case mutedKinds
    case quietHours
    case showsPreviews
    case directRooms
    case groupAdditions
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    sharesReadMarkers = try container.decodeIfPresent(Bool.self, forKey: .sharesReadMarkers)
    acceptsDirectMessages = try container.decodeIfPresent(Bool.self, forKey: .acceptsDirectMessages)
    sharesPresence = try container.decodeIfPresent(Bool.self, forKey: .sharesPresence)
    notifications = try container.decodeIfPresent(String.self, forKey: .notifications)
    mutedKinds = try container.decodeIfPresent([String].self, forKey: .mutedKinds)
    quietHours =
      container.contains(.quietHours)
      ? .some(try container.decodeIfPresent(Strict<QuietHoursRequest>.self, forKey: .quietHours)) : .none
    showsPreviews = try container.decodeIfPresent(Bool.self, forKey: .showsPreviews)
    directRooms = try container.decodeIfPresent(String.self, forKey: .directRooms)
    groupAdditions = try container.decodeIfPresent(String.self, forKey: .groupAdditions)
  }
}

/// A part of each day in which notifications arrive without an alert.
public struct QuietHoursRequest: RequestObject {
  /// `HH:MM`
  public let from: String
  /// `HH:MM`, not included.
  public let to: String
  /// A name of the IANA time zone database.
  public let timeZone: String

  public init(from: String, to: String, timeZone: String) {
    self.from = from
    self.to = to
    self.timeZone = timeZone
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case from
    case to
    case timeZone
  }
}

/// A user's quiet hours in a response.
public struct QuietHours: Codable, Sendable, Hashable {
  public var from: String
  public var to: String
  public var timeZone: String

  public init(from: String, to: String, timeZone: String) {
    self.from = from
    self.to = to
    self.timeZone = timeZone
  }
}

/// A user's preferences.
public struct Preferences: ResponseObject {
  public var sharesReadMarkers: Bool
  public var acceptsDirectMessages: Bool
  public var sharesPresence: Bool
  public var notifications: String
  public var mutedKinds: [String]
  @Nullable public var quietHours: QuietHours?
  public var showsPreviews: Bool
  public var directRooms: String
  public var groupAdditions: String

  public init(
    sharesReadMarkers: Bool, acceptsDirectMessages: Bool, sharesPresence: Bool, notifications: String,
    mutedKinds: [String], quietHours: QuietHours?, showsPreviews: Bool, directRooms: String, groupAdditions: String
  ) {
    self.sharesReadMarkers = sharesReadMarkers
    self.acceptsDirectMessages = acceptsDirectMessages
    self.sharesPresence = sharesPresence
    self.notifications = notifications
    self.mutedKinds = mutedKinds
    self.quietHours = quietHours
    self.showsPreviews = showsPreviews
    self.directRooms = directRooms
    self.groupAdditions = groupAdditions
  }
}

/// The receipt for changing the preferences: all of them, and the position.
public struct PreferencesReceipt: ResponseObject {
  public var sharesReadMarkers: Bool
  public var acceptsDirectMessages: Bool
  public var sharesPresence: Bool
  public var notifications: String
  public var mutedKinds: [String]
  @Nullable public var quietHours: QuietHours?
  public var showsPreviews: Bool
  public var directRooms: String
  public var groupAdditions: String
  public var position: LogPosition

  public init(_ preferences: Preferences, position: LogPosition) {
    sharesReadMarkers = preferences.sharesReadMarkers
    acceptsDirectMessages = preferences.acceptsDirectMessages
    sharesPresence = preferences.sharesPresence
    notifications = preferences.notifications
    mutedKinds = preferences.mutedKinds
    quietHours = preferences.quietHours
    showsPreviews = preferences.showsPreviews
    directRooms = preferences.directRooms
    groupAdditions = preferences.groupAdditions
    self.position = position
  }
}
