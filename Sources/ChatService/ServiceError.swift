package import ChatDomain

/// Why a request was not served: a business no, or a state of the server that passes or does not.
package enum ServiceError: Error, Sendable {
  case rejected(Rejection)
  /// A form that is checked before any decision.
  case invalid(InvalidInput)
  /// More is under way than the server takes; come again soon.
  case overloaded
  /// The read models are too far behind the log.
  case projectionBehind
  /// The log accepts no more events.
  case logPoisoned
  /// The server is being stopped.
  case shuttingDown
  /// A failure of the machine. The text is for the server's log, not for the client.
  case failed(String)
}

/// Input that no decision is made on.
package enum InvalidInput: String, Sendable, CaseIterable {
  case passwordTooShort = "password_too_short"
  case passwordTooLong = "password_too_long"
  case passwordTooCommon = "password_too_common"
}
