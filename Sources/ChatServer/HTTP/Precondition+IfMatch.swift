import ChatDomain
import ChatPrimitives

extension Precondition {
  /// Parses an `If-Match`; nil if it does not have the form of RFC 9110, section 13.1.1. Uses strong comparison, as the
  /// RFC requires: a weak tag matches no revision, and neither does one that is not a position.
  init?(ifMatch header: String) {
    if header.wholeMatch(of: /[ \t]*\*[ \t]*/) != nil {
      self = .exists
      return
    }
    guard let tags = EntityTag.list(in: header) else { return nil }
    self = .isAt(tags.compactMap(LogPosition.init(revisionIn:)))
  }
}

extension LogPosition {
  fileprivate init?(revisionIn tag: EntityTag) {
    guard tag.isStrong, let value = UInt64(tag.opaque), String(value) == tag.opaque else { return nil }
    self.init(value)
  }
}
