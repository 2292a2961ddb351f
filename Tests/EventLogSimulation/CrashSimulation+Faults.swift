import EventLog
private import Glibc

extension CrashSimulation {
  /// Makes calls fail while the machine keeps running.
  func runFaults() throws(SimulationFailure) {
    for _ in 1...random.within(1...3) {
      for _ in 1...random.within(1...2) { planFault() }
      _ = try live()
      try endLife()
    }
    try finish()
  }

  private func planFault() {
    // The first syncs of a later life are those of its recovery.
    if life > 0, random.isOne(in: 3) { return disk.plan(.losesSync(EIO), at: random.within(1...3), of: .sync) }
    let call = random.within(1...(life == 0 ? 30 : 14))
    switch random.below(8) {
    case 0: disk.plan(.inputOutput, at: call, of: .write)
    case 1: disk.plan(.inputOutput, at: call, of: .changes)
    case 2: disk.plan(.inputOutput, at: call * 3, of: .all)
    case 3: disk.plan(.fullDisk, at: call, of: [.write, .rename, .createDirectory])
    case 4, 5: disk.plan(.shortWrite(nil), at: call, of: .write)
    default: disk.plan(.losesSync(random.isOne(in: 2) ? EIO : ENOSPC), at: call, of: .sync)
    }
  }
}
