package import ChatPrimitives
package import EventLog

/// The records of a log after an author was erased, as `docs/log-format.md` describes: the registration and records
/// that are not kept are reduced to their digests, records that are kept carry their own salts, and the key is gone.
package struct ErasedCopy: Sendable {
  package let records: [LogRecord]

  /// - Parameter keeping: returns whether a record of the author keeps its payload.
  /// - Throws: if a record was already erased.
  package init(
    of records: [LogRecord], author: UUIDBytes, keeping: (LogRecord) -> Bool
  ) throws(FormatFlaw) {
    var keys = CommitmentKeys()
    var erased: [LogRecord] = []
    for record in records {
      keys.recordRegistration(in: record)
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
