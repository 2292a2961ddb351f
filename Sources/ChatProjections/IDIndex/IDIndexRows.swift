package import ChatPrimitives

/// What the ID index knew of a list of keys, in the list's order, all as of one position.
package struct IndexAnswer<Facts: Sendable>: Sendable {
  /// nil where nothing was known.
  package var facts: [Facts?]
  package var position: LogPosition
}
