package import ChatPrimitives

/// Which key signs access tokens from when on. The first generation signs from the beginning.
package struct SigningKeyHistory: Sendable, Equatable {
  package static let first: UInt32 = 1

  package struct Rotation: Sendable, Hashable {
    package var generation: UInt32
    /// Where it took over from the generation before it.
    package var stamp: Stamp

    package init(generation: UInt32, stamp: Stamp) {
      self.generation = generation
      self.stamp = stamp
    }
  }

  /// In the order of their generations.
  package private(set) var rotations: [Rotation] = []

  package init() {}

  package var current: UInt32 { rotations.last?.generation ?? Self.first }

  /// The generation that signs what was recorded at `position`: asked again later, the same pair of tokens is made.
  package func generation(at position: LogPosition) -> UInt32 {
    rotations.last { $0.stamp.position <= position }?.generation ?? Self.first
  }

  /// Until when the generation signed; nil while it does, and for one that never did. The earliest of all rotations
  /// since: after one that was recorded while the clock was ahead, the next one counts.
  package func retirement(of generation: UInt32) -> Timestamp? {
    rotations.lazy.filter { $0.generation > generation }.map(\.stamp.time).min()
  }

  package func contains(_ generation: UInt32) -> Bool {
    generation == Self.first || rotations.contains { $0.generation == generation }
  }

  /// Takes in a rotation, in whatever order they come.
  package mutating func rotate(to generation: UInt32, at stamp: Stamp) {
    guard !contains(generation) else { return }
    let place = rotations.firstIndex { $0.generation > generation } ?? rotations.endIndex
    rotations.insert(Rotation(generation: generation, stamp: stamp), at: place)
  }
}
