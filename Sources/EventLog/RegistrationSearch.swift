import ChatPrimitives

/// Finds the registrations of users, for code that hashes records without having read all earlier ones.
struct RegistrationSearch {
  let catalog: SegmentCatalog
  /// The search ends before this position.
  let end: LogPosition

  /// Returns the payload of the first registration in each user's stream. The index of a sealed segment says which
  /// blocks to read; other segments are read completely.
  func registrations(of users: Set<UUIDBytes>) throws(LogError) -> [UUIDBytes: RecordPayload] {
    try records(of: users).mapValues(\.payload)
  }

  /// Returns the first registration in each user's stream.
  func records(of users: Set<UUIDBytes>) throws(LogError) -> [UUIDBytes: LogRecord] {
    var missing = users
    var found: [UUIDBytes: LogRecord] = [:]
    var position = LogPosition.first
    while position < end, !missing.isEmpty {
      let segment = try catalog.opened(position, keepingOpen: false)
      let index = segment.index
      let candidates = try segment.blocks(ofStreams: missing)
      let locations =
        candidates.map { Set($0.values.joined()) }?.sorted { $0.first < $1.first }
        ?? (0..<index.count).map(index.location)
      for location in locations where location.first < end {
        for record in try segment.block(location).records where record.position < end && record.isRegistration {
          if missing.remove(record.envelope.stream) != nil { found[record.envelope.stream] = record }
        }
      }
      position = index.next
    }
    return found
  }
}
