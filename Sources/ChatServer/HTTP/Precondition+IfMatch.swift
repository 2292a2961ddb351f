import ChatDomain
import ChatPrimitives

extension Precondition {
  /// What an `If-Match` says; nil where it has not the form that RFC 9110, section 13.1.1, gives it. Compared strongly,
  /// as the RFC wants it: a weak tag names no revision, and neither does one that is no position.
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
