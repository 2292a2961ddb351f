package import ChatPrimitives

/// What a client says it last saw of the resource that it wants to change, as in `If-Match` (RFC 9110, section 13.1.1).
///
/// A resource's revision is the position of the event that last changed what its command changes: a message's text, a
/// room's looks. It is asked of what would be recorded alone, so that neither a repeat nor a refusal hangs from it.
package enum Precondition: Hashable, Sendable {
  /// Whatever there is, as long as it is there.
  case exists
  /// One of these is its revision. Empty where the client named none that could be one; then it never holds.
  case isAt([LogPosition])

  /// - Parameter revision: nil where the resource is not there.
  func holds(at revision: LogPosition?) -> Bool {
    guard let revision else { return false }
    return switch self {
    case .exists: true
    case .isAt(let revisions): revisions.contains(revision)
    }
  }
}
