import EventLogSimulation
import Testing

/// The hand-over from catching up to following, under every order of events. Checked after each step: cursors never
/// decrease, nothing is sent twice, nothing is sent that is not durable, and nothing after the end. Checked at the end:
/// nothing was lost.
@Suite("Live streams, simulated")
struct LiveSimulation {
  /// The worlds from which every order of a few steps is tried.
  private static let beginnings: [[LiveWorld.Step]] = [
    [],
    [.connect(1), .read(1), .cycle, .join, .send],
    [.connect(1), .read(1), .cycle, .join, .sync, .project, .cycle],
    [.join, .send, .sync, .project, .project, .connect(1), .cycle, .read(1)],
    [.join, .sync, .project, .connect(1), .read(1), .take(1), .cycle, .leave, .sync],
    [.join, .send, .sync, .connect(1), .project, .project, .cycle, .leave, .join, .send, .send],
  ]
  private static let depth = 4
  private static let schedules = 20_000
  private static let stepsOfSchedule = 60
  /// What most streams see: messages and nothing else.
  private static let messagesAtEnd = 4

  @Test("every order of a few steps", arguments: beginnings.indices)
  func everyOrder(beginning: Int) throws {
    var world = LiveWorld()
    for step in Self.beginnings[beginning] { _ = world.take(step) }
    var count = 0
    try explore(world, Self.beginnings[beginning], Self.depth, &count)
    #expect(count > 1_000)
  }

  private func explore(_ world: LiveWorld, _ steps: [LiveWorld.Step], _ depth: Int, _ count: inout Int) throws {
    guard depth > 0 else {
      count += 1
      _ = try finish(world, steps)
      return
    }
    for step in LiveWorld.Step.all {
      var next = world
      guard next.take(step) else { continue }
      try explore(next, steps + [step], depth - 1, &count)
    }
  }

  @Test("many random orders")
  func randomOrders() throws {
    var supplied = 0
    for seed in 0..<UInt64(Self.schedules) {
      var (random, world, steps) = (SeededRandom(seed: seed), LiveWorld(), [LiveWorld.Step]())
      for _ in 0..<Self.stepsOfSchedule {
        let step = LiveWorld.Step.weighted[random.below(LiveWorld.Step.weighted.count)]
        if world.take(step) { steps.append(step) }
      }
      world.settle()
      for _ in 0..<Self.messagesAtEnd {
        for step in [.send, .sync, .project, .cycle, .signal(0), .signal(1), .take(0), .take(1)] as [LiveWorld.Step]
        where random.below(4) > 0 && world.take(step) {
          steps.append(step)
        }
      }
      supplied += try finish(world, steps)
    }
    #expect(supplied > Self.schedules, "streams get messages without reading")
  }

  /// - Returns: how many messages the clients got without a read.
  private func finish(_ world: LiveWorld, _ steps: [LiveWorld.Step]) throws -> Int {
    var world = world
    world.settle()
    if let failure = world.failure { throw Failure(steps: steps, what: failure) }
    return world.clients.reduce(0) { $0 + $1.suppliedMessages }
  }

  private struct Failure: Error, CustomStringConvertible {
    let steps: [LiveWorld.Step]
    let what: String

    var description: String { "\(what), after \(steps)" }
  }
}
