/// Every limit that a client can reach, with its unit. Each is tested at one below, at, and one above the limit.
public enum Limits {
  // MARK: Text, in bytes of UTF-8

  /// The text of a message.
  public static let messageTextBytes = 16 * 1024
  /// The type of a custom event, which the app chooses.
  public static let customTypeBytes = 128
  /// The body of a custom event, as JSON without white space.
  public static let customBodyBytes = 64 * 1024
  /// The data that an app stores with a profile or with a room, as JSON without white space.
  public static let customDataBytes = 4 * 1024
  /// The name that a sender gives to an attachment.
  public static let attachmentNameBytes = 256
  /// A reaction: one grapheme, or a name between colons.
  public static let emojiBytes = 64
  /// A room's name.
  public static let roomNameBytes = 256
  /// A workspace's name.
  public static let workspaceNameBytes = 256
  /// The topic of a room or a workspace.
  public static let topicBytes = 1024
  /// The comment of a report.
  public static let reportCommentBytes = 2 * 1024
  /// The note of a report's resolution.
  public static let reportNoteBytes = 2 * 1024
  /// How old an ID token may be that proves a request to delete an account.
  public static let freshIDTokenMilliseconds: Int64 = 10 * 60 * 1000
  /// The reason for a legal hold.
  public static let legalHoldReasonBytes = 2 * 1024
  /// The events of one command that deletes an account: it ends sessions, memberships, invites and pending messages. So
  /// many fit into one block of the log. A larger deletion has several commands.
  public static let deletionEvents = 10_000
  /// Legal holds that are in force at the same time.
  public static let legalHolds = 10_000
  /// A user's nickname.
  public static let nicknameBytes = 128
  /// An e-mail address (RFC 5321, section 4.5.3.1.3, less the angle brackets).
  public static let emailBytes = 254
  /// The ID of a user in the team's own database.
  public static let externalIDBytes = 256
  /// The shortest password, in characters (NIST SP 800-63B, section 5.1.1.2).
  public static let passwordMinimumCharacters = 8
  /// The longest password.
  public static let passwordBytes = 1024
  /// Each text that describes a device: name, type, version of the operating system.
  public static let deviceTextBytes = 128
  /// A push token of any provider.
  public static let pushTokenBytes = 4096
  /// The endpoint of a Web Push subscription, a URL.
  public static let webPushEndpointBytes = 1024
  /// The language tag of a device (RFC 5646, section 4.4.1, recommends supporting at least this).
  public static let languageTagBytes = 35
  /// The name of a time zone. The longest in the IANA database has 32 bytes.
  public static let timeZoneBytes = 64

  // MARK: Counts

  /// The devices of one user.
  public static let devicesPerUser = 50
  /// The external logins that are linked to one user.
  public static let identitiesPerUser = 20
  /// The open sessions of one user. A further login ends the session that was refreshed longest ago.
  public static let sessionsPerUser = 100
  /// The members of one room.
  public static let membersPerRoom = 100_000
  /// The invites of one room that are neither revoked nor expired.
  public static let invitesPerRoom = 1_000
  /// The invites that are ever made for one room. All of them are kept, because a late retry must be recognised.
  public static let invitesEverPerRoom = 10_000
  /// The users who are banned from one room.
  public static let bansPerRoom = 10_000
  /// The users whom one user blocks.
  public static let blockedUsersPerUser = 1_000
  /// The rooms, and the workspaces, that are looked at to find out whether two users share one: the newest of the user
  /// who has fewer.
  public static let spacesCompared = 256
  /// The users whom the request that creates a group or a channel can add.
  public static let membersAtCreation = 100
  /// The users in a direct room besides the one who requests it.
  public static let directRoomOthers = 8
  /// The direct rooms of one user in one workspace. A user who leaves the workspace leaves all of them in one command.
  public static let directRoomsPerUserAndWorkspace = 4_000
  /// The members of one workspace.
  public static let membersPerWorkspace = 100_000
  /// The channels of one workspace that are not deleted.
  public static let channelsPerWorkspace = 1_000
  /// The invite links of one workspace that are neither revoked nor expired.
  public static let invitesPerWorkspace = 1_000
  /// The invite links that are ever made for one workspace; see `invitesEverPerRoom`.
  public static let invitesEverPerWorkspace = 10_000
  /// The pending invitations of users to one workspace.
  public static let invitationsPerWorkspace = 10_000
  /// The maximum number of uses of one invite.
  public static let inviteUses = 100_000
  /// The messages that one user has scheduled in one room. The same number of messages that could not be sent is kept.
  public static let scheduledMessagesPerUserAndRoom = 100
  /// The open reports of one user in one room.
  public static let openReportsPerUserAndRoom = 20
  /// The open reports of all users in one room.
  public static let openReportsPerRoom = 1_000
  /// The users that one message mentions.
  public static let mentionsPerMessage = 50
  /// The files in one message.
  public static let attachmentsPerMessage = 10
  /// The pinned messages in one room.
  public static let pinsPerRoom = 100
  /// The kinds of reactions to one message.
  public static let reactionKindsPerMessage = 50
  /// The kinds of reactions of one user to one message.
  public static let reactionKindsPerUserAndMessage = 20
  /// The kinds of reactions that are shown with a message. The list of reactions has the others.
  public static let reactionKindsShown = 50
  /// The text of the quote in a reply, in bytes of UTF-8. A longer text is cut between two characters.
  public static let quotedTextBytes = 256
  /// The users in the summary of a thread.
  public static let threadParticipantsShown = 5
  /// The maximum number of items on a page, and the default if the client does not give a number.
  public static let pageItems = 200
  public static let pageDefaultItems = 30
  /// The users that one request can fetch by their IDs.
  public static let usersFetched = 100
  /// The users that one search for a nickname returns.
  public static let usersFound = 50
  /// The nicknames that a search looks at, of those that begin with its text.
  public static let nicknamesExamined = 1_000
  /// If a user's rooms and workspaces have at most this many members together, a search for a nickname among them looks
  /// at all of them.
  public static let acquaintancesExamined = 2_000
  /// The rooms, and the workspaces, of a user that are compared to find out whether two users share one: those that the
  /// user joined last.
  public static let spacesComparedBySearch = 1_000
  /// The memberships that one search for a nickname reads to find out who shares a room or a workspace.
  public static let membershipsCompared = 20_000
  /// The rooms, or the threads, that a page of their list looks at to find those that a filter admits.
  public static let roomsFilteredForPage = 1_000

  /// The results on one page of a search.
  public static let searchResults = 50
  /// The devices in one explanation of push. With `userId`, there are never more.
  public static let explainedDevices = 1_000
  /// The explanations of push that are made at once. Each reads the whole log.
  public static let pushExplanations = 1
  /// How long the log is read for an explanation of push, in seconds. Shorter than a connection may be idle.
  public static let pushExplanationSeconds: Int64 = 50

  // MARK: JSON and texts that clients send

  /// The nesting depth of arrays and objects; the outermost has depth 1.
  public static let jsonDepth = 64
  /// The name of an object's member, in bytes of UTF-8.
  public static let jsonKeyBytes = 1024
  /// The members of objects and elements of arrays in one text.
  public static let jsonValues = 32 * 1024
  /// One number, in bytes.
  public static let jsonNumberBytes = 1024
  /// A text of at most this many bytes is decoded on the event loop, which takes less than a millisecond. A longer text
  /// is decoded on a separate thread.
  public static let inlineDecodingBytes = 4 * 1024
  /// The body of a message that bypasses the router, in bytes. It is decoded on the event loop.
  public static let directBodyBytes = inlineDecodingBytes
  /// The request line and the fields of a message that bypasses the router, in bytes. Those of most clients have less than one
  /// kilobyte, half of it the token.
  public static let directHeadBytes = 4 * 1024
  /// The pieces in which a message that bypasses the router may arrive. With each piece, the message is read from its
  /// beginning again.
  public static let directPieces = 8
  /// The combining marks in a row, in any text (UAX #15, section 13).
  public static let combiningMarks = 30

  // MARK: Responses

  /// A page of at most this many items is encoded on the event loop, which takes less than a millisecond whatever they
  /// contain. A longer page is encoded on the thread pool.
  public static let inlineEncodingItems = 4
  /// A response of at least this length, in bytes, is compressed if the client accepts it.
  public static let compressedBodyBytes = 1024
  /// A body of at most this length, in bytes, is compressed on the event loop, which takes less than a millisecond. A longer
  /// one is compressed on the thread pool.
  public static let inlineCompressionBytes = 64 * 1024
  /// The content of the messages on one page, in bytes. A page ends before it would exceed this, but has at least one
  /// item.
  public static let pageContentBytes = 1024 * 1024

  // MARK: Requests

  /// The query of a search, in bytes of UTF-8.
  public static let searchQueryBytes = 256

  /// The body of any request except bulk requests, in bytes.
  public static let requestBodyBytes = 128 * 1024
  /// The body of `POST /v1/ingest`, in bytes.
  public static let ingestBodyBytes = 16 * 1024 * 1024
  /// The lines of one `POST /v1/ingest`, blank ones included. The result of a line takes about 3 bytes (10 at most)
  /// until the client reads it. No command is shorter than 64 bytes, so a body of commands reaches the limit in bytes
  /// first.
  public static let ingestLines = 256 * 1024
  /// A stream of `POST /v1/ingest` ends when the rate limits reject this many of its lines in a row.
  public static let ingestLinesRefusedInARow = 1_000
  /// The open streams of `POST /v1/ingest` of one user.
  public static let ingestStreamsOfUser = 4
  /// The details of rejections that the unread results of one stream keep, in bytes. Further rejections have a general
  /// detail.
  public static let ingestRefusalBytes = 64 * 1024
  /// One line of `POST /v1/ingest`, in bytes.
  public static let ingestLineBytes = 128 * 1024

  /// The content of scheduled messages that are sent together, in bytes. No more than this is in memory at a time.
  public static let scheduledSendingBytes = 4 * 1024 * 1024

  // MARK: Media

  /// One uploaded file, in bytes, unless the operator sets another limit.
  public static let mediaBytes = 50 * 1024 * 1024
  /// The uploads in progress. Each takes 256 KiB in memory and up to a whole file on the disk.
  public static let uploads = 64
  /// The uploads in progress of one user.
  public static let uploadsOfUser = 4
  /// The uploads in progress of one address, or one IPv6 /64.
  public static let uploadsOfAddress = 16
  /// The file name of an upload, in bytes of UTF-8.
  public static let mediaNameBytes = 255
  /// The time before an image that could not be decoded is tried again, in seconds.
  public static let undecodableSeconds = 600
  /// The width times the height of an image that is decoded, in pixels. At four bytes for each pixel, that is 400 MB.
  public static let imagePixels = 100_000_000
  /// The widths of thumbnails in pixels, ascending. A request for another width gets the next larger one, so the cache
  /// holds at most these widths of each image.
  public static let thumbnailWidths = [80, 160, 320, 640, 960, 1280, 1920]
  public static var thumbnailWidestWidth: Int { thumbnailWidths.last ?? thumbnailDefaultWidth }
  /// The files for which one request can get signed URLs.
  public static let signedFiles = 50
  /// A signed URL of a file expires at the end of the next full period of this length, in milliseconds. So it is valid
  /// for one to two periods, and is the same whenever it is requested within a period.
  public static let signedURLMilliseconds: Int64 = 3_600_000
  /// The default width if the client does not give one.
  public static let thumbnailDefaultWidth = 320
  /// The frames of an animated WebP whose header is read. The time that `vipsheader` takes grows with the square of
  /// their number: less than a millisecond for this many, 10 seconds for 130,000.
  public static let webPFrames = 1_000
  /// The chunks of a WebP, of any kind, that are read to count its frames.
  public static let webPChunks = 4 * 1024
  /// The programs that read headers of uploads at once, in total and for one user.
  public static let headerProcesses = 2
  public static let headerProcessesOfUser = 1
  /// All thumbnails on the disk, in bytes, unless the operator sets another limit.
  public static let thumbnailCacheBytes = 1024 * 1024 * 1024
  /// The programs that make thumbnails at once.
  public static let imageProcesses = 2
  /// The programs that make thumbnails for one user at once.
  public static let imageProcessesOfUser = 1
  /// The images of all users that wait for a program. When more arrive, the user with the most loses a place.
  public static let waitingImages = 64

  // MARK: Connections

  /// How many frames a client may send on one connection, at once and each second, that are neither requests nor
  /// messages: HTTP/2 frames without a request, such as WINDOW_UPDATE; pings and pongs of a WebSocket; packets of
  /// Engine.IO that are not messages, and of Socket.IO that are not events. Every HTTP/2 frame that the server sends to
  /// the client allows one more.
  public static let controlFrames = 1_000
  public static let controlFramesPerSecond = 100
  /// Responses are written and files are read in pieces of this many bytes, so that the server notices a client that
  /// stops reading.
  public static let responsePieceBytes = 64 * 1024
  /// The concurrent reads of one user, and of one address or IPv6 /64. A read counts until its JSON response is taken.
  public static let readsOfUser = 16
  public static let readsOfAddress = 256
  /// How long a read or a download waits for a slot before it is rejected as `overloaded`.
  public static let readTimeoutMilliseconds: Int64 = 5_000
  /// The reads of all users that wait for a slot, and the same number of downloads. When more arrive, the user or
  /// address with the most loses a place.
  public static let waitingReads = 4 * 1024
  /// The media downloads in progress of one user, and of one address or IPv6 /64. They have separate slots, so that
  /// slow downloads do not delay JSON responses. Each takes an open file and one piece of it in memory.
  public static let downloadsOfUser = 16
  public static let downloadsOfAddress = 64
  /// The downloads of all users at once. A low limit on open files allows fewer: see `OpenFiles`.
  public static let downloads = 1_024
  /// The request bodies of one address, or one IPv6 /64, in memory at once, in bytes. Bodies of ingest and uploads are
  /// read piece by piece and do not count.
  public static let bodyBytesOfAddress = 32 * 1024 * 1024
  /// The open HTTP/2 streams of one address, or one IPv6 /64. Each takes 38 to 84 KB.
  public static let http2StreamsOfAddress = 2 * 1024
  /// The long responses to one address, or one IPv6 /64, that are in memory until its clients read them, in bytes.
  /// Their buffers take up to twice as much.
  public static let unreadResponseBytesOfAddress = 32 * 1024 * 1024
  /// A response of at most this length, in bytes, does not count: it takes less memory than its HTTP/2 stream.
  public static let uncountedResponseBytes = 16 * 1024
  /// A request's path and query, in bytes.
  public static let requestTargetBytes = 8 * 1024
  /// The header fields of one request.
  public static let headerFields = 100
  /// One header field, or the path and query, in bytes, before it is parsed.
  public static let headerFieldBytes = 16 * 1024
  /// All header fields of one request with the path and query, in bytes.
  public static let headerBytes = 32 * 1024
  /// The bytes of a request body that are read and discarded after the request was answered. If more arrive, the
  /// connection is closed.
  public static let drainedBodyBytes = 16 * 1024 * 1024
  /// The unsent bytes of a connection's responses that the operating system buffers.
  public static let unsentBytes = 128 * 1024

  // MARK: State that is kept for callers

  /// The token buckets that are kept: this many each for users, devices and addresses, together about 5 MB. A bucket
  /// that was dropped starts full again.
  public static let rateLimitBuckets = 128 * 1024
  /// The ledgers of login attempts that are kept: this many each for accounts and addresses. Also the number of
  /// accounts whose known networks are kept.
  public static let loginLedgers = 64 * 1024
  /// The networks of one account from which it is known to have logged in.
  public static let knownNetworksPerAccount = 8

  // MARK: Sync

  /// The maximum number of members a room may ever have had for its members to follow each other's read markers.
  public static let receiptMembers: UInt64 = 256
  /// The changed rooms that a catch-up reads together. In catch-ups of more rooms, items are in order within each group.
  public static let syncGroupRooms = 128
  /// The changes that one page of a sync examines at most, and the default if the client does not give a number.
  public static let syncItems = 1_000
  public static let syncDefaultItems = 200
  /// The rooms at the top of the list with which the initial state has messages, and the newest messages of each.
  public static let syncInitialRooms = 20
  public static let syncInitialMessages = 30
  /// The largest number that a client can give for the new messages of each room.
  public static let syncPerRoom = 200
  /// The rooms to which a client can limit a sync.
  public static let syncFilterRooms = 50
  /// The longest time that a sync waits for something to change, in seconds. Shorter than a connection may be idle.
  public static let syncWaitSeconds = 50
  /// How many rooms, and how many workspaces, learn at once that a user has a new nickname or picture: those that the
  /// user joined last. In the others, the user's next message brings them.
  public static let profileSpaces = 64

  // MARK: Time, in milliseconds

  /// The lifetime of a token that resets a password: one hour.
  public static let passwordResetMilliseconds: Int64 = 60 * 60 * 1000
  /// The maximum lifetime of an invite: 365 days.
  public static let inviteLifetimeMilliseconds: Int64 = 365 * 24 * 60 * 60 * 1000
  /// How far ahead a message can be scheduled: 365 days.
  public static let schedulingAheadMilliseconds: Int64 = 365 * 24 * 60 * 60 * 1000

  // MARK: The clock, in milliseconds

  /// How far the clock may be behind the newest event before new events get earlier times than that event: one minute.
  public static let clockStepMilliseconds: Int64 = 60 * 1000
  /// How far the system clock may run ahead of the monotonic clock, or at the start be behind the log's last time,
  /// before that is reported. Also how far in the future an access token may have been issued. Five minutes.
  public static let clockJumpMilliseconds: Int64 = 5 * 60 * 1000
  /// How long a jump ahead must last before it is trusted without an operator: ten minutes.
  public static let clockJumpHeldMilliseconds: Int64 = 10 * 60 * 1000
  /// A clock whose drift ahead is at most one part in this many is followed.
  public static let clockDriftDivisor: Int64 = 20
  /// If the clock at the start is later than the last known time by more than this, three tasks wait
  /// `clockJumpHeldMilliseconds` to see whether the clock stays there: sending scheduled messages, giving up push
  /// notifications and collecting uploads. One day.
  public static let clockGapMilliseconds: Int64 = 24 * 60 * 60 * 1000
  /// How far the settled time moves before it is saved in the data directory again: ten minutes.
  public static let clockKeptMilliseconds: Int64 = 10 * 60 * 1000
}
