import ChatDomain
import ChatPrimitives

/// A read model differs from the model.
struct Mismatch: Error {
  let what: String
  let lines: [String]

  /// Nil if both are equal. Otherwise has the lines in which they differ.
  init?<T: Equatable>(_ what: String, expected: T, found: T) {
    guard expected != found else { return nil }
    self.what = what
    let changes = Outline.lines(of: found).difference(from: Outline.lines(of: expected))
    let shown = changes.map { change in
      switch change {
      case .remove(let offset, let line, _): (offset, "  expected \(line)")
      case .insert(let offset, let line, _): (offset, "  found    \(line)")
      }
    }
    lines = shown.sorted { $0.0 < $1.0 }.map(\.1)
  }

  init(_ what: String, _ lines: [String]) {
    self.what = what
    self.lines = lines
  }
}

/// A value as lines, each with the path to it, so that two values can be compared by eye.
enum Outline {
  static func lines(of value: Any, at path: String = "") -> [String] {
    if let leaf = leaf(value) { return ["\(path): \(leaf)"] }
    let mirror = Mirror(reflecting: value)
    if mirror.displayStyle == .optional {
      guard let wrapped = mirror.children.first?.value else { return ["\(path): nil"] }
      return lines(of: wrapped, at: path)
    }
    if mirror.displayStyle == .dictionary || mirror.displayStyle == .set { return unordered(mirror, at: path) }
    if mirror.children.isEmpty { return ["\(path): \(value)"] }
    return mirror.children.enumerated().flatMap { index, child in
      lines(of: child.value, at: "\(path).\(child.label ?? String(index))")
    }
  }

  /// Sorts the lines of unordered collections by their text.
  private static func unordered(_ mirror: Mirror, at path: String) -> [String] {
    mirror.children.map { child -> [String] in
      let parts = Array(Mirror(reflecting: child.value).children)
      guard mirror.displayStyle == .dictionary, parts.count == 2 else { return lines(of: child.value, at: path) }
      return lines(of: parts[1].value, at: "\(path)[\(leaf(parts[0].value) ?? "\(parts[0].value)")]")
    }.sorted { $0.first ?? "" < $1.first ?? "" }.flatMap { $0 }
  }

  /// The text of a value that fits on a single line.
  private static func leaf(_ value: Any) -> String? {
    switch value {
    case let user as UserID: "u\(user.short)"
    case let room as RoomID: "r\(room.short)"
    case let message as MessageID: "m\(message.short)"
    case let stamp as Stamp: "\(stamp.position) at \(stamp.time)"
    case let time as Timestamp: time.rfc3339
    case let position as LogPosition: position.description
    case let text as String: text.debugDescription
    case let bytes as [UInt8]: "\(bytes.count) bytes \(bytes.prefix(4))"
    default: nil
    }
  }
}

/// A result of the service or its rejection, as one value.
enum QueryResult<T: Equatable>: Equatable {
  case found(T)
  case refused(String)
}
