package import ChatPrimitives

/// Since when each key has signed access tokens. The first generation signs from the beginning.
package struct SigningKeyHistory: Sendable, Equatable {
  package static let first: UInt32 = 1

  package struct Rotation: Sendable, Hashable {
    package var generation: UInt32
    /// Where it replaced the generation before it.
    package var stamp: Stamp

    package init(generation: UInt32, stamp: Stamp) {
      self.generation = generation
      self.stamp = stamp
    }
  }

  /// In the order of the generations.
  package private(set) var rotations: [Rotation] = []

  package init() {}

  package var current: UInt32 { rotations.last?.generation ?? Self.first }

  /// The generation that signs what was recorded at `position`, so that a retry gets the same pair of tokens.
  package func generation(at position: LogPosition) -> UInt32 {
    rotations.last { $0.stamp.position <= position }?.generation ?? Self.first
  }

  /// When the generation stopped signing; nil if it still signs or never did. This is the earliest time of all later
  /// rotations: if a rotation was recorded while the clock was ahead, the next one counts.
  package func retirement(of generation: UInt32) -> Timestamp? {
    rotations.lazy.filter { $0.generation > generation }.map(\.stamp.time).min()
  }

  package func contains(_ generation: UInt32) -> Bool {
    generation == Self.first || rotations.contains { $0.generation == generation }
  }

  /// Adds a rotation. Rotations may arrive in any order.
  package mutating func rotate(to generation: UInt32, at stamp: Stamp) {
    guard !contains(generation) else { return }
    let place = rotations.firstIndex { $0.generation > generation } ?? rotations.endIndex
    rotations.insert(Rotation(generation: generation, stamp: stamp), at: place)
  }
}
