/// The kind of aggregate that a stream belongs to. Every record's envelope contains it.
package enum StreamKind: UInt8, Sendable, CaseIterable {
  case user = 1
  case room = 2
  case workspace = 3
  case server = 4
}
