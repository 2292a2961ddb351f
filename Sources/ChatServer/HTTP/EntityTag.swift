/// What a representation is known by (RFC 9110, section 8.8.3).
struct EntityTag: Equatable {
  /// The same tag means the same bytes.
  let isStrong: Bool
  /// Without quotes.
  let opaque: String

  static func strong(_ opaque: String) -> EntityTag { EntityTag(isStrong: true, opaque: opaque) }
  static func weak(_ opaque: String) -> EntityTag { EntityTag(isStrong: false, opaque: opaque) }

  var header: String { (isStrong ? "" : "W/") + "\"\(opaque)\"" }

  /// Whether an `If-None-Match` names it: then the client has it already. Compared weakly, as the RFC says.
  func isNamed(in header: String?) -> Bool {
    guard let header else { return false }
    if header.allSatisfy({ $0 == "*" || $0 == " " }), header.contains("*") { return true }
    return Self.tags(in: header).contains { $0.opaque == opaque }
  }

  /// Whether an `If-Range` lets a range be served: when there is none, and when it is this tag, strong on both sides. A
  /// date never does, for a medium has none.
  func admitsRange(_ header: String?) -> Bool {
    guard let header else { return true }
    return isStrong && Self.tags(in: header) == [self]
  }

  /// The tags of a list; nil where it has not the form that the RFC gives it, with one tag at least.
  static func list(in header: String) -> [EntityTag]? {
    let form = /[ \t,]*(?:W\/)?"[!#-~]*"(?:[ \t]*,[ \t,]*(?:W\/)?"[!#-~]*")*[ \t,]*/
    return header.wholeMatch(of: form) == nil ? nil : tags(in: header)
  }

  /// The tags of a list; what is none is passed over.
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
