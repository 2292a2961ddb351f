import EventLogSimulation
import Testing

/// The short run of the simulation. `Tools/simulate` does the long runs.
@Suite("Simulated crashes, faults and damage")
struct SimulationTests {
  @Test("no promise is broken on hostile disks", arguments: [UInt64(1), 201, 301])
  func sweep(firstSeed: UInt64) throws {
    let outcome = try SimulationSweep(firstSeed: firstSeed, points: 100).run(threads: 1)
    #expect(outcome.points == 100)
    #expect(outcome.powerCuts > 50 && outcome.tornTails > 0 && outcome.poisonings > 0)
    #expect(outcome.refusedOnOpening > 0)
  }

  @Test("one seed is one run")
  func isDeterministic() throws {
    for seed in UInt64(1)...40 {
      #expect(try CrashSimulation.run(seed: seed) == CrashSimulation.run(seed: seed))
    }
  }
}
