/// The names in one directory: as a process sees them, as the disk keeps them, and the changes in between.
struct SimulatedDirectory: Sendable {
  private enum Change: Sendable {
    case create(String, inode: Int)
    case rename(String, to: String, inode: Int)
    case remove(String)

    func apply(to names: inout [String: Int]) {
      switch self {
      case .create(let name, let inode): names[name] = inode
      case .rename(let name, let target, let inode):
        names[name] = nil
        names[target] = inode
      case .remove(let name): names[name] = nil
      }
    }

    var names: [String] {
      switch self {
      case .create(let name, _), .remove(let name): [name]
      case .rename(let name, let target, _): [name, target]
      }
    }
  }

  /// The number of the inode for each name.
  private(set) var live: [String: Int]
  private(set) var durable: [String: Int]
  private var pending: [Change] = []

  /// A directory whose names are all on the disk.
  init(_ names: [String: Int] = [:]) {
    live = names
    durable = names
  }

  mutating func create(_ name: String, inode: Int) { change(.create(name, inode: inode)) }

  mutating func rename(_ name: String, to target: String, inode: Int) {
    change(.rename(name, to: target, inode: inode))
  }

  mutating func remove(_ name: String) { change(.remove(name)) }

  mutating func sync() {
    for change in pending { change.apply(to: &durable) }
    pending.removeAll()
  }

  private mutating func change(_ change: Change) {
    change.apply(to: &live)
    pending.append(change)
  }

  /// The directory after a power cut: with a prefix of the changes since the last sync, or with any subset of them in
  /// which changes to the same name keep their order.
  func afterPowerCut(_ random: inout SeededRandom) -> SimulatedDirectory {
    var names = durable
    if random.isOne(in: 2) {
      for change in pending.prefix(random.within(0...pending.count)) { change.apply(to: &names) }
    } else {
      var lost: Set<String> = []
      for change in pending {
        if change.names.contains(where: lost.contains) || random.isOne(in: 2) {
          lost.formUnion(change.names)
        } else {
          change.apply(to: &names)
        }
      }
    }
    return SimulatedDirectory(names)
  }
}
