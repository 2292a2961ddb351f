/// One file: as a process sees it, as the disk keeps it, and the writes in between.
struct SimulatedInode: Sendable {
  /// The number of bytes that a disk writes as a whole or not at all.
  static let sectorBytes = 512

  /// A write since the last sync. Empty `bytes` mean zeros.
  private struct PendingWrite: Sendable {
    var offset: Int
    var count: Int
    var bytes: [UInt8]

    var range: Range<Int> { offset..<offset + count }

    func apply(to image: inout SparseBytes) {
      if bytes.isEmpty {
        image.writeZeros(at: offset, count: count)
      } else {
        bytes.withUnsafeBytes { image.write($0, at: offset) }
      }
    }

    /// Applies the part that lies within one sector to that sector's bytes.
    func apply(to sector: inout [UInt8], at start: Int) {
      let part = range.clamped(to: start..<start + sector.count)
      for place in part { sector[place - start] = bytes.isEmpty ? 0 : bytes[place - offset] }
    }
  }

  private(set) var live: SparseBytes
  private(set) var durable: SparseBytes
  private var pending: [PendingWrite] = []
  /// Whether an open file holds the lock.
  var isLocked = false

  /// A file that is on the disk already.
  init(_ bytes: [UInt8] = []) {
    live = SparseBytes(bytes)
    durable = live
  }

  var hasPending: Bool { !pending.isEmpty }

  mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    if bytes.isZero {
      live.writeZeros(at: offset, count: bytes.count)
      pending.append(PendingWrite(offset: offset, count: bytes.count, bytes: []))
    } else {
      live.write(bytes, at: offset)
      pending.append(PendingWrite(offset: offset, count: bytes.count, bytes: [UInt8](bytes)))
    }
  }

  mutating func sync() {
    for write in pending { write.apply(to: &durable) }
    pending.removeAll(keepingCapacity: true)
  }

  /// Changes bytes on the disk without a write by any process.
  mutating func damage(_ bytes: [UInt8], at offset: Int) {
    let part = bytes.prefix(max(0, live.count - offset))
    part.withUnsafeBytes {
      live.write($0, at: offset)
      if offset + $0.count <= durable.count { durable.write($0, at: offset) }
    }
  }
}

// MARK: - The fate of unsynced writes

extension SimulatedInode {
  /// Simulates a failed sync: some sectors reached the disk, and all pages count as clean afterwards, so that a later
  /// sync has nothing to write ("fsyncgate": https://lwn.net/Articles/752063/).
  mutating func loseSync(_ random: inout SeededRandom) {
    let fate = random.below(3)
    if durable.count < live.count, fate != 0 { durable.resize(to: live.count) }
    for start in pendingSectors where fate == 1 || fate == 2 && random.isOne(in: 2) {
      let end = min(start + Self.sectorBytes, durable.count)
      if start < end { live.bytes(start..<end).withUnsafeBytes { durable.write($0, at: start) } }
    }
    pending.removeAll()
  }

  /// The file after a power cut: each unsynced sector is independently kept, lost, or torn between two of its versions;
  /// the length is kept, lost, or in between.
  func afterPowerCut(_ random: inout SeededRandom) -> SimulatedInode {
    guard hasPending else { return settled(durable) }
    switch random.below(8) {
    case 0: return settled(durable)
    case 1: return settled(live)
    default: break
    }
    var image = durable
    for start in pendingSectors {
      var versions = [durable.bytes(start..<start + Self.sectorBytes)]
      for write in pending where write.range.overlaps(start..<start + Self.sectorBytes) {
        var next = versions[versions.count - 1]
        write.apply(to: &next, at: start)
        versions.append(next)
      }
      let sector = Self.survivor(of: versions, &random)
      sector.withUnsafeBytes { image.write($0, at: start) }
    }
    let lengths = [durable.count, live.count].sorted()
    image.resize(to: random.isOne(in: 2) ? lengths[1] : random.within(lengths[0]...lengths[1]))
    return settled(image)
  }

  /// A file with this content, all of it on the disk.
  private func settled(_ image: SparseBytes) -> SimulatedInode {
    var file = self
    file.live = image
    file.durable = image
    file.pending.removeAll()
    file.isLocked = false
    return file
  }

  /// The offsets of the sectors with unsynced writes, ascending. Sectors that were and still are zeros are left out.
  private var pendingSectors: [Int] {
    var starts: [Int] = []
    for write in pending {
      let first = write.offset / Self.sectorBytes
      let last = (write.offset + write.count + Self.sectorBytes - 1) / Self.sectorBytes
      for sector in first..<max(first, last) {
        let start = sector * Self.sectorBytes
        if !write.bytes.isEmpty || !live.isZeroPage(at: start) || !durable.isZeroPage(at: start) {
          starts.append(start)
        }
      }
    }
    starts.sort()
    var previous = -1
    return starts.filter { start in
      defer { previous = start }
      return start != previous
    }
  }

  private static func survivor(of versions: [[UInt8]], _ random: inout SeededRandom) -> [UInt8] {
    let newest = versions[versions.count - 1]
    switch random.below(5) {
    case 0, 1: return newest
    case 2: return versions[0]
    case 3: return versions[random.below(versions.count)]
    default:
      let cut = random.within(1...sectorBytes - 1)
      let other = versions[random.below(versions.count)]
      return random.isOne(in: 2)
        ? Array(newest[..<cut] + other[cut...]) : Array(other[..<cut] + newest[cut...])
    }
  }
}
