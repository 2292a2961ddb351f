/// Every bound that a client can meet, with its unit. Each is tested one below, at, and one above.
public enum Limits {
  // MARK: Text, in bytes of UTF-8

  /// A message's text.
  public static let messageTextBytes = 16 * 1024
  /// The app's own name for a custom event.
  public static let customTypeBytes = 128
  /// The body of a custom event, as JSON without white space.
  public static let customBodyBytes = 64 * 1024
  /// The name that a sender gives an attachment.
  public static let attachmentNameBytes = 256
  /// A reaction: one grapheme, or a name between colons.
  public static let emojiBytes = 64
  /// A room's name.
  public static let roomNameBytes = 256
  /// A workspace's name.
  public static let workspaceNameBytes = 256
  /// What a room or a workspace is about.
  public static let topicBytes = 1024
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
  /// Logins elsewhere that stand for one user.
  public static let identitiesPerUser = 20
  /// Sessions of one user that are open at once; one login more ends the one that was refreshed longest ago.
  public static let sessionsPerUser = 100
  /// Members of one room.
  public static let membersPerRoom = 100_000
  /// Invites of one room that are neither revoked nor expired.
  public static let invitesPerRoom = 1_000
  /// Invites that one room ever makes. Each is kept permanently, or else a late retry would not be recognised.
  public static let invitesEverPerRoom = 10_000
  /// Users who are banned from one room.
  public static let bansPerRoom = 10_000
  /// Users whom a direct room has beside the one who asks for it.
  public static let directRoomOthers = 8
  /// Members of one workspace.
  public static let membersPerWorkspace = 100_000
  /// Channels of one workspace that are not deleted.
  public static let channelsPerWorkspace = 1_000
  /// Invite links of one workspace that are neither revoked nor expired.
  public static let invitesPerWorkspace = 1_000
  /// Invite links that one workspace ever makes, as `invitesEverPerRoom`.
  public static let invitesEverPerWorkspace = 10_000
  /// Users who are invited into one workspace by name and have not answered.
  public static let invitationsPerWorkspace = 10_000
  /// How often one invite can be accepted at most.
  public static let inviteUses = 100_000
  /// Messages of one user in one room that wait for their time; as many that could not be sent are remembered.
  public static let scheduledMessagesPerUserAndRoom = 100
  /// Users whom one message mentions.
  public static let mentionsPerMessage = 50
  /// Files that one message holds.
  public static let attachmentsPerMessage = 10
  /// Messages that are pinned in one room.
  public static let pinsPerRoom = 100
  /// Kinds of reactions that one message has.
  public static let reactionKindsPerMessage = 50
  /// Kinds of reactions with which one user reacts to one message.
  public static let reactionKindsPerUserAndMessage = 20
  /// Kinds of reactions that a message is shown with; who reacted with any other is found in the list.
  public static let reactionKindsShown = 50
  /// Users whom the summary of a thread names.
  public static let threadParticipantsShown = 5
  /// Items of one page, and how many come when the client does not say.
  public static let pageItems = 200
  public static let pageDefaultItems = 30

  /// Results of one page of a search.
  public static let searchResults = 50

  // MARK: JSON and texts that clients send

  /// Arrays and objects within each other; the outermost is the first.
  public static let jsonDepth = 64
  /// The name of an object's member, in bytes of UTF-8.
  public static let jsonKeyBytes = 1024
  /// Members of objects and elements of arrays in one text.
  public static let jsonValues = 32 * 1024
  /// One number, in bytes.
  public static let jsonNumberBytes = 1024
  /// A text of up to so many bytes is decoded on the event loop, which takes less than a millisecond; a longer one on a
  /// thread of its own.
  public static let inlineDecodingBytes = 4 * 1024
  /// Combining marks in a row, in any text (UAX #15, section 13).
  public static let combiningMarks = 30

  // MARK: Responses

  /// A page of up to this many items is encoded on the event loop, which takes less than a millisecond whatever they
  /// hold. A longer page is encoded on the thread pool.
  public static let inlineEncodingItems = 4
  /// What the messages of one page hold, in bytes; a page ends before it would hold more, but has one item at least.
  public static let pageContentBytes = 1024 * 1024

  // MARK: Requests

  /// What is searched for, in bytes of UTF-8.
  public static let searchQueryBytes = 256

  /// The body of any request but a bulk one, in bytes.
  public static let requestBodyBytes = 128 * 1024
  /// The body of `POST /v1/ingest`, in bytes.
  public static let ingestBodyBytes = 16 * 1024 * 1024
  /// Lines of one `POST /v1/ingest`, blank ones included. The result of a line takes about 3 bytes (10 at most) until
  /// the client reads it. No command is shorter than 64 bytes, so a body of commands reaches the limit in bytes first.
  public static let ingestLines = 256 * 1024
  /// A stream of `POST /v1/ingest` ends when the rate limits refuse so many of its lines in a row.
  public static let ingestLinesRefusedInARow = 1_000
  /// Streams of `POST /v1/ingest` that one user has open at once.
  public static let ingestStreamsOfUser = 4
  /// How many bytes of details of refusals the unread results of one stream keep. Further refusals have a general
  /// detail.
  public static let ingestRefusalBytes = 64 * 1024
  /// One line of `POST /v1/ingest`, in bytes.
  public static let ingestLineBytes = 128 * 1024

  /// The content of scheduled messages that are sent together, in bytes: at most this much is in memory at a time.
  public static let scheduledSendingBytes = 4 * 1024 * 1024

  // MARK: Media

  /// One uploaded file, in bytes, where the operator says nothing else.
  public static let mediaBytes = 50 * 1024 * 1024
  /// Uploads in progress at once; each holds 256 KiB in memory and up to a whole file on the disk.
  public static let uploads = 64
  /// Those of one user.
  public static let uploadsOfUser = 4
  /// Those of one address, or one /64 of IPv6.
  public static let uploadsOfAddress = 16
  /// The name that an upload comes with, in bytes of UTF-8.
  public static let mediaNameBytes = 255
  /// How long an image that could not be decoded is not tried again, in seconds.
  public static let undecodableSeconds = 600
  /// Width times height of an image that is decoded, in pixels. Four bytes each, that is 400 MB at most.
  public static let imagePixels = 100_000_000
  /// The widths that thumbnails are made in, in pixels, rising; another width gets the next one. So each image has at
  /// most these in the cache.
  public static let thumbnailWidths = [80, 160, 320, 640, 960, 1280, 1920]
  /// The width when the client does not say.
  public static let thumbnailDefaultWidth = 320
  /// Frames of an animated WebP whose header is read. The time that `vipsheader` takes grows with their square: for so
  /// many it is less than a millisecond, for 130,000 it is 10 seconds.
  public static let webPFrames = 1_000
  /// Chunks of a WebP, of any kind, that are looked at to count its frames.
  public static let webPChunks = 4 * 1024
  /// Programs that read headers of uploads at once, and those that work for one user.
  public static let headerProcesses = 2
  public static let headerProcessesOfUser = 1
  /// All thumbnails on the disk, in bytes, where the operator says nothing else.
  public static let thumbnailCacheBytes = 1024 * 1024 * 1024
  /// Programs that make thumbnails at once.
  public static let imageProcesses = 2
  /// Those that work for one user.
  public static let imageProcessesOfUser = 1
  /// Images of all users that wait for a program; when more come, the user who waits most loses a place.
  public static let waitingImages = 64

  // MARK: Connections

  /// Frames of HTTP/2 that ask for nothing, such as WINDOW_UPDATE, that a client may send at once, and each second; one more
  /// for each frame that it was sent.
  public static let controlFrames = 1_000
  public static let controlFramesPerSecond = 100
  /// A response is written, and a file is read, in pieces of this many bytes, so that the server notices when the client does not read.
  public static let responsePieceBytes = 64 * 1024
  /// Reads of one user that are worked on at once or whose JSON waits to be taken; of one address, or one /64 of IPv6.
  public static let readsOfUser = 16
  public static let readsOfAddress = 256
  /// Then a read or a download waits for so long at most, before it is refused as `overloaded`.
  public static let readPatienceMilliseconds: Int64 = 5_000
  /// Reads of all that wait for that, and as many downloads; when more come, who waits most loses a place.
  public static let waitingReads = 4 * 1024
  /// Downloads of media in progress at once, of one user and of one address, or one /64 of IPv6. They have slots of
  /// their own, so that slow ones hold up no JSON. Each holds an open file and one piece of it.
  public static let downloadsOfUser = 16
  public static let downloadsOfAddress = 64
  /// Downloads of all users at once. A low limit on open files allows fewer: see `OpenFiles`.
  public static let downloads = 1_024
  /// Bodies of one address, or one /64 of IPv6, that are in memory at once, in bytes. Those of ingest and uploads are
  /// read piece by piece and do not count.
  public static let bodyBytesOfAddress = 32 * 1024 * 1024
  /// Open HTTP/2 streams of one address, or one IPv6 /64. Each takes 38 to 84 KB.
  public static let http2StreamsOfAddress = 2 * 1024
  /// Long responses to one address, or one IPv6 /64, that are in memory because its clients have not read them, in bytes.
  /// Their buffers take up to twice as much.
  public static let unreadResponseBytesOfAddress = 32 * 1024 * 1024
  /// A response up to this length, in bytes, does not count: it takes less memory than its HTTP/2 stream.
  public static let uncountedResponseBytes = 16 * 1024
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
  /// What the system takes of a connection's answers before it has sent it, in bytes.
  public static let unsentBytes = 128 * 1024

  // MARK: What is remembered of callers

  /// Token buckets that are remembered, of users, of devices and of addresses each: about 5 MB. One that is let go
  /// starts full.
  public static let rateLimitBuckets = 128 * 1024
  /// Ledgers of accounts, and of addresses, whose attempts to log in are remembered; and accounts whose networks are.
  public static let loginLedgers = 64 * 1024
  /// Networks of one account that are remembered as those it has logged in from.
  public static let knownNetworksPerAccount = 8

  // MARK: Time, in milliseconds

  /// The life of a token that resets a password: one hour.
  public static let passwordResetMilliseconds: Int64 = 60 * 60 * 1000
  /// The longest life of an invite: 365 days.
  public static let inviteLifetimeMilliseconds: Int64 = 365 * 24 * 60 * 60 * 1000
  /// How far ahead a message can be scheduled: 365 days.
  public static let schedulingAheadMilliseconds: Int64 = 365 * 24 * 60 * 60 * 1000

  // MARK: The clock, in milliseconds

  /// How far the clock may be behind the newest event before new events get earlier times than that: one minute.
  public static let clockStepMilliseconds: Int64 = 60 * 1000
  /// How far the system clock may run ahead of the monotonic clock, and how far behind the log's last time it may be at
  /// the start, before that is reported; and how far in the future an access token may have been issued: five minutes.
  public static let clockJumpMilliseconds: Int64 = 5 * 60 * 1000
  /// How long a jump ahead must last before it is trusted without an operator: ten minutes.
  public static let clockJumpHeldMilliseconds: Int64 = 10 * 60 * 1000
  /// A clock that drifts ahead by no more than one part in this many is followed.
  public static let clockDriftDivisor: Int64 = 20
  /// If the clock at the start is later than the last known time by more than this, scheduled messages, giving up push
  /// notifications and the collection of uploads wait `clockJumpHeldMilliseconds`, to see whether it stays there: one
  /// day.
  public static let clockGapMilliseconds: Int64 = 24 * 60 * 60 * 1000
  /// How far the settled time moves before it is written to the data directory again: ten minutes.
  public static let clockKeptMilliseconds: Int64 = 10 * 60 * 1000
}
