package import ChatPrimitives

/// Why an event could not be explained.
package enum PushExplanationError: Error, Sendable, Hashable, CustomStringConvertible {
  case unknownPosition(LogPosition, head: LogPosition)
  case notifiesNobody(LogPosition)
  /// `PushExplainer` gave up.
  case tookTooLong

  package var description: String {
    switch self {
    case .unknownPosition(let position, let head):
      "position \(position) does not exist; the log has positions 1 to \(head)"
    case .notifiesNobody(let position): "the event at position \(position) is of a type that notifies nobody"
    case .tookTooLong: "reading the log took too long"
    }
  }
}
