import EventLogSimulation
import Foundation
import Testing

/// Tries the parsers with the seed corpus and with changed seeds, always the same ones. `Tools/fuzz` searches further, with
/// libFuzzer. A property that does not hold ends the process with a message that names it.
@Suite struct FuzzSpecs {
  /// How many changed inputs are tried for each seed.
  private static let changesOfSeed = 500
  /// How many times a changed input differs from its seed, at most.
  private static let editsAtMost = 4

  @Test(arguments: FuzzTarget.allCases) func `every seed, and changes of it, keep the properties`(target: FuzzTarget) throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus/\(target.rawValue)")
    let seeds = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .sorted { $0.path < $1.path }
      .map { [UInt8](try Data(contentsOf: $0)) }
    #expect(!seeds.isEmpty)
    var random = SeededRandom(seed: UInt64(seeds.count))
    for seed in seeds {
      target.run(seed)
      for _ in 0..<Self.changesOfSeed {
        target.run(Self.changed(seed, of: seeds, atMost: target.maximumInputBytes, &random))
      }
    }
  }

  /// Changes, removes and inserts bytes, and copies bytes of another seed.
  private static func changed(
    _ seed: [UInt8], of seeds: [[UInt8]], atMost most: Int, _ random: inout SeededRandom
  ) -> [UInt8] {
    var input = seed
    for _ in 0..<Int.random(in: 1...editsAtMost, using: &random) {
      let place = Int.random(in: 0...input.count, using: &random)
      let end = min(input.count, place + Int.random(in: 1...8, using: &random))
      switch Int.random(in: 0..<5, using: &random) {
      case 0 where place < input.count: input[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 1 where place < input.count: input[place] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
      case 2: input.removeSubrange(place..<end)
      case 3: input.insert(contentsOf: (place..<end).map { _ in .random(in: 0...255, using: &random) }, at: place)
      default:
        let other = seeds.randomElement(using: &random) ?? seed
        let start = Int.random(in: 0...other.count, using: &random)
        input.replaceSubrange(place..<end, with: other[start...].prefix(end - place + 4))
      }
    }
    return Array(input.prefix(most))
  }
}
