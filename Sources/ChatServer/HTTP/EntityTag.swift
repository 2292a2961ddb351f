/// An entity tag, which identifies a representation (RFC 9110, section 8.8.3).
struct EntityTag: Equatable {
  /// A strong tag: equal tags mean equal bytes.
  let isStrong: Bool
  /// Without quotes.
  let opaque: String

  static func strong(_ opaque: String) -> EntityTag { EntityTag(isStrong: true, opaque: opaque) }
  static func weak(_ opaque: String) -> EntityTag { EntityTag(isStrong: false, opaque: opaque) }

  var header: String { (isStrong ? "" : "W/") + "\"\(opaque)\"" }

  /// Whether an `If-None-Match` names this tag, so that the client already has the representation. Uses weak
  /// comparison, as the RFC requires.
  func isNamed(in header: String?) -> Bool {
    guard let header else { return false }
    if header.allSatisfy({ $0 == "*" || $0 == " " }), header.contains("*") { return true }
    return Self.tags(in: header).contains { $0.opaque == opaque }
  }

  /// Whether an `If-Range` allows a range to be served: if there is no such header, or if it contains only this tag and
  /// the tag is strong. A date never allows it, because media have no dates.
  func admitsRange(_ header: String?) -> Bool {
    guard let header else { return true }
    return isStrong && Self.tags(in: header) == [self]
  }

  /// The tags of a list; nil if the list does not have the form that the RFC defines, with at least one tag.
  static func list(in header: String) -> [EntityTag]? {
    let form = /[ \t,]*(?:W\/)?"[!#-~]*"(?:[ \t]*,[ \t,]*(?:W\/)?"[!#-~]*")*[ \t,]*/
    return header.wholeMatch(of: form) == nil ? nil : tags(in: header)
  }

  /// The tags of a list. Anything else in it is skipped.
  private static func tags(in header: String) -> [EntityTag] {
    var tags: [EntityTag] = []
    var rest = header[...]
    while let quote = rest.firstIndex(of: "\"") {
      let isWeak = rest[..<quote].hasSuffix("W/")
      let after = rest[rest.index(after: quote)...]
      guard let end = after.firstIndex(of: "\"") else { break }
      tags.append(EntityTag(isStrong: !isWeak, opaque: String(after[..<end])))
      rest = after[after.index(after: end)...]
    }
    return tags
  }
}
