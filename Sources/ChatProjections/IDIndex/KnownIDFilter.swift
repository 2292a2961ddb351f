package import ChatPrimitives

/// Finds out without disk access that a message ID or an idempotency key was never seen: a Bloom filter in generations.
///
/// Each generation takes 2¹⁹ entries into a bitmap of 1 MiB, which is 16 bits or two bytes per entry. An entry sets up
/// to seven of the 512 bits of one 64-byte line of the bitmap (a "blocked" filter: one cache miss instead of seven). A
/// full generation has a false positive for about one in a thousand absent entries, and n generations for about n in a
/// thousand. If the filter says "maybe", the caller has to look into the ID index on disk; if it says "never", it does
/// not.
///
/// The hash has no random seed: the same entries set the same bits in every process.
package struct KnownIDFilter: Sendable, Equatable {
  /// The number of entries of one generation.
  package static let generationEntries = 1 << 19
  /// Bits per entry.
  package static let bitsPerEntry = 16
  /// Size of one generation's bitmap in bytes.
  package static let generationBytes = generationEntries * bitsPerEntry / 8
  /// The number of bits that an entry sets, some of which may coincide.
  static let probes = 7

  static let wordsPerLine = 8
  static let lines = generationBytes / (wordsPerLine * MemoryLayout<UInt64>.size)

  private var generations: [Generation] = [Generation()]
  /// The number of entries in the last generation.
  private var tail = 0

  package init() {}

  /// - Parameters:
  ///   - full: the bitmaps of full generations, in order.
  ///   - tail: the entries after them.
  init(full: [Generation], tail: some Sequence<UInt64>) {
    generations = full + [Generation()]
    for entry in tail { insert(entry) }
  }

  /// The number of inserted entries; a repeated entry is counted each time.
  package var count: Int { (generations.count - 1) * Self.generationEntries + tail }

  /// The memory of the bitmaps, in bytes.
  var byteCount: Int { generations.reduce(0) { $0 + $1.words.count * MemoryLayout<UInt64>.size } }

  package mutating func insert(_ entry: UInt64) {
    if tail == Self.generationEntries {
      generations.append(Generation())
      tail = 0
    }
    generations[generations.count - 1].insert(entry)
    tail += 1
  }

  /// - Returns: false only if the entry was never inserted.
  package func mayContain(_ entry: UInt64) -> Bool {
    for generation in generations.reversed() where generation.mayContain(entry) { return true }
    return false
  }

  /// The bitmap of one generation.
  struct Generation: Sendable, Equatable {
    private(set) var words: [UInt64]

    init() {
      words = Array(repeating: 0, count: KnownIDFilter.generationBytes / MemoryLayout<UInt64>.size)
    }

    /// - Returns: nil unless `bytes` has the size of one generation.
    init?(bytes: UnsafeRawBufferPointer) {
      guard bytes.count == KnownIDFilter.generationBytes else { return nil }
      words = stride(from: 0, to: bytes.count, by: MemoryLayout<UInt64>.size).map {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self))
      }
    }

    /// The words in little-endian order.
    var bytes: [UInt8] {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(KnownIDFilter.generationBytes)
      for word in words { withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) } }
      return bytes
    }

    mutating func insert(_ entry: UInt64) {
      let line = Self.line(of: entry)
      var bits = KnownIDFilter.mix(entry)
      for _ in 0..<KnownIDFilter.probes {
        words[line + Int(bits >> 6 & 7)] |= 1 << (bits & 63)
        bits >>= 9
      }
    }

    func mayContain(_ entry: UInt64) -> Bool {
      let line = Self.line(of: entry)
      var bits = KnownIDFilter.mix(entry)
      for _ in 0..<KnownIDFilter.probes {
        if words[line + Int(bits >> 6 & 7)] & (1 << (bits & 63)) == 0 { return false }
        bits >>= 9
      }
      return true
    }

    /// The index of the first word of the entry's line.
    private static func line(of entry: UInt64) -> Int {
      Int(entry % UInt64(KnownIDFilter.lines)) * KnownIDFilter.wordsPerLine
    }
  }
}

// MARK: - Entries

extension KnownIDFilter {
  /// The entry of a message. A message ID is unique only within its room, so the entry includes the room.
  package static func entry(_ message: MessageID, in room: RoomID) -> UInt64 {
    entry(tag: 1, room.uuid, message.uuid)
  }

  /// The entry of an idempotency key. The key is unique only within its actor, so the entry includes the actor.
  package static func entry(_ command: CommandID, by actor: UUIDBytes) -> UInt64 {
    entry(tag: 2, actor, command.uuid)
  }

  private static func entry(tag: UInt64, _ first: UUIDBytes, _ second: UUIDBytes) -> UInt64 {
    var hash = tag
    for word in [first.high, first.low, second.high, second.low] { hash = mix(hash ^ word) }
    return hash
  }

  /// The step and the finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
  /// OOPSLA 2014, with Stafford's variant 13 of the constants): a bijection in which each input bit reaches all 64.
  static func mix(_ value: UInt64) -> UInt64 {
    var mixed = value &+ 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }
}
