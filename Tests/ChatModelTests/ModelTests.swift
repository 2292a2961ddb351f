import Foundation
import Testing

@Suite("The model")
struct ModelTests {
  /// The number of commands of one seed.
  static let steps = 350
  /// The seeds of every run.
  static let fixedSeeds: [UInt64] = [1, 2, 3, 4]
  /// This seed starts with a command for each kind of event. It is fixed, so that a seed does the same in every range.
  static let seedOfEveryEvent: UInt64 = 1
  /// The environment variable with the seeds of a long run, such as `1-500` or `4711`.
  static let seedsVariable = "HANSARD_MODEL_SEEDS"
  /// The environment variable with the number of commands of each seed.
  static let stepsVariable = "HANSARD_MODEL_STEPS"

  static var seeds: [UInt64] {
    guard let text = ProcessInfo.processInfo.environment[seedsVariable] else { return fixedSeeds }
    let bounds = text.split(separator: "-").compactMap { UInt64($0) }
    guard let first = bounds.first, let last = bounds.last, first <= last, bounds.count <= 2 else { return [] }
    return Array(first...last)
  }

  /// If this environment variable is set, each command is printed.
  static let traceVariable = "HANSARD_MODEL_TRACE"

  static var stepCount: Int {
    ProcessInfo.processInfo.environment[stepsVariable].flatMap { Int($0) } ?? steps
  }

  @Test("the seeds of a long run can be read")
  func readsSeeds() {
    #expect(!Self.seeds.isEmpty, "\(Self.seedsVariable) is a number or two with a hyphen, such as 1-500")
  }

  @Test("every read model matches the log after random and repeated commands", .timeLimit(.minutes(60)))
  func readModelsFollowTheLog() async throws {
    let total = await runAll(Self.seeds, steps: Self.stepCount)
    print("model: \(total)")
    // A generator whose commands are mostly rejected shows little, and so does one that never produces some events.
    #expect(total.recorded > total.refusals, "too few commands were valid")
    // A single seed that is examined again need not show everything.
    guard Self.seeds.contains(Self.seedOfEveryEvent) else { return }
    #expect(EventKinds.all.subtracting(total.events.keys) == [], "events that never came up")
    #expect(total.notifications > 20, "too few notifications to show something")
    #expect(total.suppliedPages > 20, "too few pages of the feed to show something")
  }

  @Test("a seed is one run")
  func isRepeatable() async throws {
    var outcomes: [[String]] = []
    for _ in 0..<2 {
      let run = try await ModelRun(seed: 7, steps: 120)
      try await run.run()
      outcomes.append(run.outcomes)
    }
    #expect(outcomes[0] == outcomes[1])
  }

  /// Runs as many seeds at once as there are processors, because each of them uses a whole processor at times.
  private func runAll(_ seeds: [UInt64], steps: Int) async -> ModelRun.Tally {
    await withTaskGroup(of: ModelRun.Tally.self) { group in
      var (left, total) = (seeds[...], ModelRun.Tally())
      for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
        if let seed = left.popFirst() { group.addTask { await run(seed, steps) } }
      }
      for await tally in group {
        total.add(tally)
        if let seed = left.popFirst() { group.addTask { await run(seed, steps) } }
      }
      return total
    }
  }

  private func run(_ seed: UInt64, _ steps: Int) async -> ModelRun.Tally {
    do {
      let isTraced = ProcessInfo.processInfo.environment[Self.traceVariable] != nil
      let run = try await ModelRun(
        seed: seed, steps: steps, makesEveryEvent: seed == Self.seedOfEveryEvent, isTraced: isTraced)
      do {
        try await run.run()
      } catch {
        Issue.record("\(error)")
      }
      return run.tally
    } catch {
      Issue.record("seed \(seed) could not begin: \(error)")
      return ModelRun.Tally()
    }
  }
}
