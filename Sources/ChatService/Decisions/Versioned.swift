package import ChatPrimitives

/// A stream's state and the number of its events.
package struct Versioned<State: Sendable & Equatable>: Sendable, Equatable {
  package var state: State
  package var version: StreamVersion

  package init(state: State, version: StreamVersion) {
    self.state = state
    self.version = version
  }
}
