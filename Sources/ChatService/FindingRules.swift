/// Who can be found by what, as the operator chose. A service that acts for itself finds everyone.
package struct FindingRules: Sendable, Hashable {
  package enum Scope: String, Sendable, CaseIterable {
    case nobody
    /// Those with whom the caller shares a room or a workspace.
    case shared
    case everyone
  }

  package var byEmail = Scope.shared
  package var byExternalID = Scope.shared
  package var byNickname = Scope.shared

  package init() {}
}
