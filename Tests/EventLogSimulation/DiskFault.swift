private import Glibc

/// The kinds of calls to a disk.
package struct DiskCalls: OptionSet, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) {
    self.rawValue = rawValue
  }

  package static let read = DiskCalls(rawValue: 1 << 0)
  package static let write = DiskCalls(rawValue: 1 << 1)
  package static let sync = DiskCalls(rawValue: 1 << 2)
  package static let open = DiskCalls(rawValue: 1 << 3)
  package static let rename = DiskCalls(rawValue: 1 << 4)
  package static let remove = DiskCalls(rawValue: 1 << 5)
  package static let createDirectory = DiskCalls(rawValue: 1 << 6)
  package static let syncDirectory = DiskCalls(rawValue: 1 << 7)
  package static let list = DiskCalls(rawValue: 1 << 8)
  package static let size = DiskCalls(rawValue: 1 << 9)
  package static let lock = DiskCalls(rawValue: 1 << 10)
  package static let link = DiskCalls(rawValue: 1 << 11)

  /// The calls that change something or make it durable.
  package static let changes: DiskCalls = [.write, .sync, .rename, .remove, .link, .createDirectory, .syncDirectory]
  package static let all: DiskCalls = [.changes, .read, .open, .list, .size, .lock]
}

/// What a call does instead of its work.
package enum DiskFault: Sendable, Hashable {
  /// Fails with this error number and does nothing.
  case fails(Int32)
  /// Writes only a part. Nil means a random length. Calls other than `write` fail with EIO.
  case shortWrite(Int?)
  /// A sync fails with this error number. The unsynced data counts as clean afterwards, although some of it is not on
  /// the disk. For a directory, the names stay unsynced. Other calls fail.
  case losesSync(Int32)
  /// A write reports success but lands at another multiple of 512 of the same file or of another file. Other calls work
  /// normally.
  case misdirects
  /// The power fails: this call and all later ones fail. Only `afterPowerCut` returns a usable disk.
  case powerCut

  /// The call was interrupted by a signal before it did anything.
  package static let interrupted = DiskFault.fails(EINTR)
  /// The disk failed.
  package static let inputOutput = DiskFault.fails(EIO)
  /// The disk is full.
  package static let fullDisk = DiskFault.fails(ENOSPC)
}

/// A fault that is planned for a later call.
struct PlannedFault: Sendable {
  var fault: DiskFault
  var calls: DiskCalls
  /// The fault happens with the call that brings this to zero.
  var callsLeft: Int
  /// Nil if the fault happens once. Otherwise it repeats after this many calls on average.
  var meanCalls: Int?

  /// Counts one call.
  /// - Returns: whether the fault happens now.
  mutating func isDue(_ call: DiskCalls, _ random: inout SeededRandom) -> Bool {
    guard calls.contains(call), callsLeft > 0 else { return false }
    callsLeft -= 1
    guard callsLeft == 0 else { return false }
    if let meanCalls { callsLeft = random.within(1...2 * meanCalls) }
    return true
  }
}

/// The number of faults that happened, by kind.
package struct DiskFaultCounts: Sendable, Hashable {
  package var interrupted = 0
  package var inputOutput = 0
  package var fullDisk = 0
  package var shortWrites = 0
  package var lostSyncs = 0
  package var misdirected = 0
  package var powerCuts = 0

  /// The number of all faults except interruptions, which must have no visible effect.
  package var noticeable: Int { inputOutput + fullDisk + shortWrites + lostSyncs + misdirected + powerCuts }

  mutating func count(_ fault: DiskFault) {
    switch fault {
    case .fails(EINTR): interrupted += 1
    case .fails(ENOSPC), .fails(EDQUOT): fullDisk += 1
    case .fails: inputOutput += 1
    case .shortWrite: shortWrites += 1
    case .losesSync: lostSyncs += 1
    case .misdirects: misdirected += 1
    case .powerCut: powerCuts += 1
    }
  }
}
