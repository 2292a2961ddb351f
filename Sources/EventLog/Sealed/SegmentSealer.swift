import ChatPrimitives

/// Rewrites full segments densely, one after the other, in four steps: survey, write, check, swap.
struct SegmentSealer {
  private static let temporaryName = "seal" + LogFolder.temporarySuffix

  let folder: LogFolder
  let identity: LogIdentity
  let catalog: SegmentCatalog
  let counts: ReadCounts
  let random: @Sendable () -> UInt64
  /// Called between blocks. If it returns true, the work is discarded.
  let mustStop: @Sendable () -> Bool

  /// A sealed segment that has replaced the active one.
  struct Sealed {
    var segment: Segment
    /// The tree after its last record.
    var end: MerkleFrontier
  }

  /// Seals a segment. Before the swap only a temporary file changes. After it, the sealed file has the segment's name.
  /// - Parameters:
  ///   - start: the tree over all records before the segment.
  ///   - successor: the next segment.
  /// - Returns: nil if sealing was stopped. The swap is not synced yet.
  func seal(_ segment: Segment, from start: MerkleFrontier, before successor: Segment) throws(LogError) -> Sealed? {
    let source = try segment.opened(before: successor)
    let file = try folder.openTemporary(Self.temporaryName, counts: counts)
    do {
      guard let sealed = try rewrite(source, from: start, to: file) else {
        try folder.remove(Self.temporaryName)
        return nil
      }
      try SealedFile(name: Self.temporaryName, folder: folder, identity: identity, counts: counts)
        .readBack(sealed.header, sealed.index)
      if mustStop() {
        try folder.remove(Self.temporaryName)
        return nil
      }
      try folder.swap(Self.temporaryName, for: segment.name)
      let replacement = Segment(
        first: segment.first, in: folder, identity: identity, counts: counts, index: sealed.index)
      catalog.replace(segment, by: replacement)
      return Sealed(segment: replacement, end: sealed.end)
    } catch {
      // If this fails, the file is removed before the next attempt, or when the log is opened.
      try? folder.remove(Self.temporaryName)
      throw error
    }
  }

  private func rewrite(
    _ source: OpenSegment, from start: MerkleFrontier, to file: LogFile
  ) throws(LogError) -> (header: SegmentHeader, index: BlockIndex, end: MerkleFrontier)? {
    let index = source.index
    var builder = MerkleTreeBuilder(from: start, in: catalog)
    var survey = SegmentSurvey(blocks: index.count)
    for number in 0..<index.count {
      if mustStop() { return nil }
      let records = try source.block(index.location(at: number)).records
      survey.add(records, unresolved: builder.unresolved(in: records))
    }
    try builder.resolve(survey.authors, newcomers: survey.newcomers)
    var writer: DenseSegmentWriter
    do {
      writer = try DenseSegmentWriter(file, replacing: source.header, salt: random(), survey: survey)
    } catch {
      throw LogError(error, at: .init(file: source.file.name, position: source.header.first))
    }
    for number in 0..<index.count {
      if mustStop() { return nil }
      let block = try source.block(index.location(at: number))
      try builder.add(block) { writer.append($0) }
      try writer.append(block.records)
    }
    let (header, sealedIndex) = try writer.finish(start: start, end: builder.frontier, activeChain: index.chain)
    return (header, sealedIndex, builder.frontier)
  }
}
