import ChatPrimitives

/// A sealed segment under a temporary name, before it replaces the segment.
struct SealedFile {
  let name: String
  let folder: LogFolder
  let identity: LogIdentity
  let counts: ReadCounts

  /// Reads the new file again before it replaces the old one.
  func readBack(_ header: SegmentHeader, _ index: BlockIndex) throws(LogError) {
    let segment = Segment(first: header.first, in: folder, identity: identity, counts: counts)
    let file = try folder.open(name, .read, counts: counts)
    let (found, _) = try segment.header(file)
    guard found == header, try file.size() == header.segmentBytes else {
      throw LogError(
        FormatFlaw("the new file does not contain what was written"), at: .init(file: file.name, offset: 0))
    }
    let open = try OpenSegment(segment: segment, file: file, header: header, index: index)
    for number in 0..<index.count { _ = try open.body(index.location(at: number)) }
    if let seal = header.seal {
      for section in seal.sections.all { _ = try file.section(section) }
    }
  }
}
