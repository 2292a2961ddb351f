package import ChatPrimitives
package import EventLog

/// The records of a log after an author was erased, as `docs/log-format.md` has it: the registration and what is not
/// kept leave their digests, what is kept carries its own salt, and the key is gone.
package struct ErasedCopy: Sendable {
  package let records: [LogRecord]

  /// - Parameter keeping: which of the author's records keep their payload.
  /// - Throws: for a record that was erased already.
  package init(
    of records: [LogRecord], author: UUIDBytes, keeping: (LogRecord) -> Bool
  ) throws(FormatFlaw) {
    var keys = CommitmentKeys()
    var erased: [LogRecord] = []
    for record in records {
      keys.learn(record)
      let isRegistration = record.isRegistration && record.envelope.stream == author
      guard record.envelope.actor == author || isRegistration else {
        erased.append(record)
        continue
      }
      let key = try keys.key(for: record)
      var copy = record
      if !isRegistration, keeping(record), let payload = record.payload.retained,
        let salt = try record.salt(author: key)
      {
        copy.payload = .retainedWithSalt(payload, salt: salt.bytes)
      } else {
        copy.payload = .erased(digest: try record.digest(author: key).bytes)
      }
      erased.append(copy)
    }
    self.records = erased
  }
}
