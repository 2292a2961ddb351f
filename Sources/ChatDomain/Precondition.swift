package import ChatPrimitives

/// The revision that a client last saw of what it wants to change, from `If-Match` (RFC 9110, section 13.1.1).
///
/// A revision is the position of the event that last changed the resource: a message's text, or a room's name, topic or
/// picture. It is compared only if the command would record something, so it affects neither retries nor rejections.
package enum Precondition: Hashable, Sendable {
  /// `If-Match: *`: holds if the resource exists.
  case exists
  /// Holds if one of these is the current revision. Empty if the client sent no valid revision.
  case isAt([LogPosition])

  /// - Parameter revision: nil if the resource does not exist.
  func holds(at revision: LogPosition?) -> Bool {
    guard let revision else { return false }
    return switch self {
    case .exists: true
    case .isAt(let revisions): revisions.contains(revision)
    }
  }
}
