package import ChatPrimitives

/// What a decision needs to know of one message. Not kept in memory for every message: the ID index answers it, and
/// the writer overlays what is newer than the index.
package struct KnownMessage: Hashable, Sendable {
  package var author: UserID
  package var place: MessageLocation
  /// How many messages its thread has; zero for one that is in a thread itself.
  package var replies: UInt64
  /// Where and when it was sent.
  package var sent: Stamp
  /// The time that clients see: an import's original time, else the recorded one.
  package var sentAt: Timestamp
  /// Where it was last written: sent, edited or deleted.
  package var revision: LogPosition
  /// When it was last written; nil where only the position is kept, and then an answer carries the time of sending.
  package var revisedAt: Timestamp?
  package var isDeleted: Bool
  /// Whether it was sent with attachments or a custom part, beside which its text may be empty.
  package var hasParts: Bool
  /// Of the message as it was first sent; nil when that was erased, and then no retry can be recognised.
  package var fingerprint: Fingerprint?

  package init(
    author: UserID, place: MessageLocation, replies: UInt64 = 0, sent: Stamp, sentAt: Timestamp, revision: LogPosition,
    isDeleted: Bool, fingerprint: Fingerprint?, revisedAt: Timestamp? = nil, hasParts: Bool = false
  ) {
    self.author = author
    self.place = place
    self.replies = replies
    self.sent = sent
    self.sentAt = sentAt
    self.revision = revision
    self.isDeleted = isDeleted
    self.hasParts = hasParts
    self.fingerprint = fingerprint
    self.revisedAt = revisedAt
  }
}
