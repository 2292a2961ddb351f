package import ChatPrimitives

/// What a decision needs to know of one message. Memory does not contain every message: the ID index is read for it,
/// and the writer applies newer changes.
package struct KnownMessage: Hashable, Sendable {
  package var author: UserID
  package var location: MessageLocation
  /// How many messages its thread has; zero if the message itself is in a thread.
  package var replies: UInt64
  /// Where and when it was sent.
  package var sent: Stamp
  /// The time that clients see: the original time of an imported message, otherwise the recorded time.
  package var sentAt: Timestamp
  /// The position where it was last sent, edited or deleted.
  package var revision: LogPosition
  /// When it was last edited or deleted. Nil if only the position is stored; a response then has the sending time.
  package var revisedAt: Timestamp?
  package var isDeleted: Bool
  /// Whether it was sent with attachments or a custom part. If so, its text may be empty.
  package var hasParts: Bool
  /// Whether it was sent with a custom part, whose body can be edited.
  package var isCustom: Bool
  /// The fingerprint of the message as it was first sent. Nil if it was erased; then no retry can be recognised.
  package var fingerprint: Fingerprint?

  package init(
    author: UserID, location: MessageLocation, replies: UInt64 = 0, sent: Stamp, sentAt: Timestamp,
    revision: LogPosition, isDeleted: Bool, fingerprint: Fingerprint?, revisedAt: Timestamp? = nil,
    hasParts: Bool = false, isCustom: Bool = false
  ) {
    self.author = author
    self.location = location
    self.replies = replies
    self.sent = sent
    self.sentAt = sentAt
    self.revision = revision
    self.isDeleted = isDeleted
    self.hasParts = hasParts
    self.isCustom = isCustom
    self.fingerprint = fingerprint
    self.revisedAt = revisedAt
  }
}
