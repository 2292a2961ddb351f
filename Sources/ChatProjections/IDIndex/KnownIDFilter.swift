package import ChatPrimitives

/// Answers "never seen" for message IDs and idempotency keys without touching the disk: a Bloom filter in generations.
///
/// Each generation takes 2¹⁹ entries into a bitmap of 1 MiB, so 16 bits or two bytes per entry. An entry touches one
/// 64-byte line of the bitmap (a "blocked" filter: one cache miss instead of seven) and sets seven of its 512 bits; a
/// full generation says yes wrongly for about one absent entry in a thousand, and n of them for about n in a thousand.
/// Who is told "maybe" asks the ID index on disk; who is told "never" need not.
///
/// Nothing seeds it: the same entries give the same bits in every process.
package struct KnownIDFilter: Sendable, Equatable {
  /// Entries of one generation.
  package static let generationEntries = 1 << 19
  /// Bits per entry.
  package static let bitsPerEntry = 16
  /// Bytes of one generation's bitmap.
  package static let generationBytes = generationEntries * bitsPerEntry / 8
  /// Bits that an entry sets.
  static let probes = 7

  static let wordsPerLine = 8
  static let lines = generationBytes / (wordsPerLine * MemoryLayout<UInt64>.size)

  private var generations: [Generation] = [Generation()]
  /// Entries in the last generation.
  private var tail = 0

  package init() {}

  /// - Parameters:
  ///   - full: the bitmaps of full generations, in order.
  ///   - tail: the entries after them.
  init(full: [Generation], tail: some Sequence<UInt64>) {
    generations = full + [Generation()]
    for entry in tail { insert(entry) }
  }

  /// How many entries were inserted, repeated ones counted again.
  package var count: Int { (generations.count - 1) * Self.generationEntries + tail }

  /// The memory of the bitmaps.
  var byteCount: Int { generations.reduce(0) { $0 + $1.words.count * MemoryLayout<UInt64>.size } }

  package mutating func insert(_ entry: UInt64) {
    if tail == Self.generationEntries {
      generations.append(Generation())
      tail = 0
    }
    generations[generations.count - 1].insert(entry)
    tail += 1
  }

  /// - Returns: false only when the entry was never inserted.
  package func mayContain(_ entry: UInt64) -> Bool {
    for generation in generations.reversed() where generation.mayContain(entry) { return true }
    return false
  }

  /// One bitmap.
  struct Generation: Sendable, Equatable {
    private(set) var words: [UInt64]

    init() {
      words = Array(repeating: 0, count: KnownIDFilter.generationBytes / MemoryLayout<UInt64>.size)
    }

    /// - Returns: nil unless it has the bytes of one generation.
    init?(bytes: UnsafeRawBufferPointer) {
      guard bytes.count == KnownIDFilter.generationBytes else { return nil }
      words = stride(from: 0, to: bytes.count, by: MemoryLayout<UInt64>.size).map {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self))
      }
    }

    /// Little-endian words.
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
  /// The entry of a message. Its ID is unique within its room, so the room is a part of the entry.
  package static func entry(_ message: MessageID, in room: RoomID) -> UInt64 {
    entry(tag: 1, room.uuid, message.uuid)
  }

  /// The entry of an idempotency key, which is unique within its actor, so the actor is a part of the entry.
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
