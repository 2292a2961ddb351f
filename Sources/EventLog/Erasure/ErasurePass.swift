import ChatPrimitives

/// One pass over sealed segments, from the last to the first. It removes payloads and keeps every leaf of the tree.
///
/// The order matters. The registration of a user has the key from which all salts of the user come. It is in the first
/// segment that has anything of the user, so it disappears last, when no other record needs the key.
struct ErasurePass {
  static let temporaryName = "erase" + LogFolder.temporarySuffix

  let folder: LogFolder
  let identity: LogIdentity
  let catalog: SegmentCatalog
  let counts: ReadCounts
  let random: @Sendable () -> UInt64
  let plan: ErasurePlan
  /// Called between blocks and before each swap. If it returns true, the pass ends.
  let mustStop: () -> Bool
  /// Called after each segment.
  let finished: (_ done: UInt64, _ total: UInt64) -> Void
  /// Called if a swap may not be durable.
  let syncFailed: () -> Void

  /// - Returns: nil if the pass was stopped.
  func run() throws(LogError) -> ErasureReport? {
    var report = ErasureReport(users: plan.users.mapValues { _ in ErasureCounts() })
    guard !plan.users.isEmpty else { return report }
    var keys = AuthorKeys(catalog: catalog, end: plan.last.next)
    try keys.find(Set(plan.users.keys))
    // Nothing of a user precedes the registration, which is the first record of the user's stream.
    let first = keys.firstRegistration(of: plan.users.keys)
    let all = catalog.all
    guard let last = all.lastIndex(where: { $0.first <= plan.last }) else { return report }
    let lowest = all.lastIndex { $0.first <= first } ?? 0
    let total = UInt64(last - lowest + 1)
    for number in stride(from: last, through: lowest, by: -1) {
      guard let isRewritten = try process(segment: number, &keys, &report) else { return nil }
      report.segments += 1
      if isRewritten { report.rewritten += 1 }
      finished(UInt64(report.segments), total)
      if mustStop() { return nil }
    }
    return report
  }

  /// - Returns: whether the segment was rewritten; nil if the pass was stopped.
  private func process(
    segment number: Int, _ keys: inout AuthorKeys, _ report: inout ErasureReport
  ) throws(LogError) -> Bool? {
    let all = catalog.all
    let segment = all[number]
    let source = try segment.opened(before: all[number + 1])
    guard let seal = source.header.seal else {
      throw LogError(.busy, "The segment is not sealed yet; try again later.", location: .init(file: segment.name))
    }
    var authors: Set<UUIDBytes> = []
    var isChanged = false
    for block in 0..<source.index.count {
      if mustStop() { return nil }
      for record in try source.block(source.index.location(at: block)).records {
        guard let user = plan.user(of: record.envelope), plan.change(of: record, user) != .none else { continue }
        isChanged = true
        if let actor = record.envelope.actor { authors.insert(actor) }
      }
    }
    try keys.find(authors)
    var survey = SegmentSurvey(blocks: source.index.count)
    for block in 0..<source.index.count {
      if mustStop() { return nil }
      let records = try changed(source.block(source.index.location(at: block)), keys)
      for record in records {
        guard let user = plan.user(of: record.envelope) else { continue }
        report.users[user]?.count(record)
      }
      if isChanged { survey.add(records, unresolved: []) }
    }
    guard isChanged else { return false }
    return try rewrite(source, seal, survey, keys) ? true : nil
  }

  // MARK: Records

  /// The records of a block after the erasure.
  private func changed(_ block: Block, _ keys: AuthorKeys) throws(LogError) -> [LogRecord] {
    var records = block.records
    for (number, record) in records.enumerated() {
      guard let user = plan.user(of: record.envelope) else { continue }
      do {
        records[number] = try changed(record, plan.change(of: record, user), keys)
      } catch {
        throw LogError(error, at: .init(file: block.segment, offset: block.offset, position: record.position))
      }
    }
    return records
  }

  private func changed(
    _ record: LogRecord, _ change: ErasureChange, _ keys: AuthorKeys
  ) throws(FormatFlaw) -> LogRecord {
    if case .none = change { return record }
    let author = keys.key(for: record)
    var changed = record
    if case .salt = change, let payload = record.payload.retained, let salt = try record.salt(author: author) {
      changed.payload = .retainedWithSalt(payload, salt: salt.bytes)
    } else if case .salt = change, !keys.isRegistered(authorOf: record) {
      // No key was ever used for the record, so losing the key does not affect it.
      return record
    } else {
      // A kept record also loses its payload if its author's registration has no key: after the registration is erased,
      // it would need a salt that never existed.
      changed.payload = .erased(digest: try record.digest(author: author).bytes)
    }
    guard try changed.leaf(author: .erased) == record.leaf(author: author) else {
      throw FormatFlaw("erasing the payload would change the leaf of the tree")
    }
    return changed
  }

  // MARK: Files

  /// Writes the segment again and replaces it.
  /// - Returns: false if the pass was stopped.
  private func rewrite(
    _ source: OpenSegment, _ seal: SegmentSeal, _ survey: SegmentSurvey, _ keys: AuthorKeys
  ) throws(LogError) -> Bool {
    let file = try folder.openTemporary(Self.temporaryName, counts: counts)
    do throws(LogError) {
      var writer: DenseSegmentWriter
      do {
        writer = try DenseSegmentWriter(file, replacing: source.header, salt: random(), survey: survey)
      } catch {
        throw LogError(error, at: .init(file: source.file.name, position: source.header.first))
      }
      for block in 0..<source.index.count {
        if mustStop() {
          try folder.remove(Self.temporaryName)
          return false
        }
        try writer.append(changed(source.block(source.index.location(at: block)), keys))
      }
      // Every leaf is unchanged, so the part of the tree is too.
      let (header, index) = try writer.finish(
        peaks: seal.peaks, tree: try source.file.section(seal.sections.tree), activeChain: seal.activeChain)
      try SealedFile(name: Self.temporaryName, folder: folder, identity: identity, counts: counts)
        .readBack(header, index)
      if mustStop() {
        try folder.remove(Self.temporaryName)
        return false
      }
      try folder.swap(Self.temporaryName, for: source.segment.name)
      catalog.replace(
        source.segment,
        by: Segment(first: source.segment.first, in: folder, identity: identity, counts: counts, index: index))
    } catch {
      // If this fails, the file is removed before the next attempt, or when the log is opened.
      try? folder.remove(Self.temporaryName)
      throw error
    }
    do {
      // Durable before the next segment, because of the order.
      try folder.sync()
    } catch {
      syncFailed()
      throw error
    }
    return true
  }
}

/// The keys of the authors of records that a pass changes.
private struct AuthorKeys {
  let catalog: SegmentCatalog
  /// The positions that are searched for registrations end before this one.
  let end: LogPosition
  /// Nil for an author without a registration.
  private var registrations: [UUIDBytes: LogRecord?] = [:]

  init(catalog: SegmentCatalog, end: LogPosition) {
    self.catalog = catalog
    self.end = end
  }

  /// Looks up the registrations of authors that are not known yet.
  mutating func find(_ authors: Set<UUIDBytes>) throws(LogError) {
    let missing = authors.filter { registrations[$0] == nil }
    guard !missing.isEmpty else { return }
    let found = try RegistrationSearch(catalog: catalog, end: end).records(of: missing)
    for author in missing { registrations.updateValue(found[author], forKey: author) }
  }

  /// The position of the first of these users' registrations; the first position if the stream of one of them does not
  /// begin with one.
  func firstRegistration(of users: some Sequence<UUIDBytes>) -> LogPosition {
    let positions = users.map { user in
      (registrations[user] ?? nil).flatMap { $0.envelope.streamVersion == StreamVersion(1) ? $0.position : nil }
    }
    return positions.map { $0 ?? .first }.min() ?? .first
  }

  func isRegistered(authorOf record: LogRecord) -> Bool { registration(for: record) != nil }

  func key(for record: LogRecord) -> AuthorKey {
    registration(for: record).map { CommitmentKeys.key(in: $0.payload) } ?? .none
  }

  /// The registration of a record's author, at or before the record.
  private func registration(for record: LogRecord) -> LogRecord? {
    guard let actor = record.envelope.actor, let found = registrations[actor] ?? nil,
      found.position <= record.position
    else { return nil }
    return found
  }
}
