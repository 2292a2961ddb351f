/// Every bound that a client can meet, with its unit. Each is tested one below, at, and one above.
public enum Limits {
  // MARK: Text, in bytes of UTF-8

  /// A message's text.
  public static let messageTextBytes = 16 * 1024
  /// A room's name.
  public static let roomNameBytes = 256
  /// A user's nickname.
  public static let nicknameBytes = 128
  /// An e-mail address (RFC 5321, section 4.5.3.1.3, less the angle brackets).
  public static let emailBytes = 254
  /// The key that a team's own database has for a user.
  public static let externalIDBytes = 256
  /// The shortest password, in characters (NIST SP 800-63B, section 5.1.1.2).
  public static let passwordMinimumCharacters = 8
  /// The longest password.
  public static let passwordBytes = 1024
  /// Each text that describes a device: name, type, version of the operating system.
  public static let deviceTextBytes = 128
  /// A push token of any provider.
  public static let pushTokenBytes = 4096

  // MARK: Counts

  /// Devices of one user.
  public static let devicesPerUser = 50
  /// Sessions of one user that are open at once; one login more ends the one that was refreshed longest ago.
  public static let sessionsPerUser = 100
  /// Members of one room.
  public static let membersPerRoom = 100_000
  /// Invites of one room that are neither revoked nor expired.
  public static let invitesPerRoom = 1_000
  /// How often one invite can be accepted at most.
  public static let inviteUses = 100_000
  /// Items of one page, and how many come when the client does not say.
  public static let pageItems = 200
  public static let pageDefaultItems = 30

  /// Results of one page of a search.
  public static let searchResults = 50

  // MARK: Requests

  /// What is searched for, in bytes of UTF-8.
  public static let searchQueryBytes = 256

  /// The body of any request but a bulk one, in bytes.
  public static let requestBodyBytes = 128 * 1024
  /// The body of `POST /v1/ingest`, in bytes.
  public static let ingestBodyBytes = 16 * 1024 * 1024
  /// Lines of one `POST /v1/ingest` that are not blank: each has a result, which is kept until the client reads it. No
  /// command is shorter than 64 bytes, so that a body of commands meets the bound in bytes first.
  public static let ingestLines = 256 * 1024
  /// One line of `POST /v1/ingest`, in bytes.
  public static let ingestLineBytes = 128 * 1024

  /// A request's path and query, in bytes.
  public static let requestTargetBytes = 8 * 1024
  /// Header fields of one request.
  public static let headerFields = 100
  /// One header field, or the path and query, in bytes, before anything is looked at.
  public static let headerFieldBytes = 16 * 1024
  /// All header fields of one request with the path and query, in bytes.
  public static let headerBytes = 32 * 1024
  /// What is read and thrown away of a body whose request was answered before it ended, in bytes.
  public static let drainedBodyBytes = 16 * 1024 * 1024

  // MARK: What is remembered of callers

  /// Token buckets that are remembered, of users, of devices and of addresses each: about 5 MB. One that is let go
  /// starts full.
  public static let rateLimitBuckets = 128 * 1024
  /// Accounts, and addresses, whose attempts to log in are remembered.
  public static let loginLedgers = 64 * 1024

  // MARK: Time, in milliseconds

  /// The longest life of an invite: 365 days.
  public static let inviteLifetimeMilliseconds: Int64 = 365 * 24 * 60 * 60 * 1000
}
