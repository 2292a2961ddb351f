/// The kinds of facts of the server's stream. Numbers stand in the log and are forever.
package enum ServerEventKind: UInt16, Sendable, CaseIterable {
  case pushOutcomesRecorded = 200
  case signingKeyRotated = 201

  /// What the tools print and filter by.
  package var name: String {
    switch self {
    case .pushOutcomesRecorded: "push.outcomes-recorded"
    case .signingKeyRotated: "signing-key.rotated"
    }
  }
}
