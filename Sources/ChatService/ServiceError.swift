package import ChatDomain
import MediaFiles

/// Why a request was not served: a business no, or a state of the server that passes or does not.
package enum ServiceError: Error, Sendable {
  case rejected(Rejection)
  /// A form that is checked before any decision.
  case invalid(InvalidInput)
  /// A file was not taken, or an image not shown.
  case media(MediaRefusal)
  /// The body of an upload could not be read. The error is the one that reading it threw.
  case unreadable(any Error)
  /// More is under way than the server takes; come again soon.
  case overloaded
  /// The read models are too far behind the log.
  case projectionBehind
  /// The log accepts no more events.
  case logPoisoned
  /// The server is being stopped.
  case shuttingDown
  /// Whoever asked has gone, and the work was given up.
  case cancelled
  /// A failure of the machine. The text is for the server's log, not for the client.
  case failed(String)
}

/// Input that no decision is made on.
package enum InvalidInput: String, Sendable, CaseIterable {
  case passwordTooShort = "password_too_short"
  case passwordTooLong = "password_too_long"
  case passwordResetInvalid = "password_reset_invalid"
  case passwordResetExpired = "password_reset_expired"
  case passwordTooCommon = "password_too_common"
}

/// Why a file was not taken, or an image not shown.
package enum MediaRefusal: Sendable, Hashable {
  /// The upload has more bytes than the limit.
  case tooLarge(limit: Int)
  case problem(MediaProblem)
}

/// Those of them that have a code of their own.
package enum MediaProblem: String, Sendable, CaseIterable {
  case empty = "media_empty"
  case tooManyUploads = "too_many_uploads"
  case storageFull = "media_storage_full"
  case imageTooLarge = "image_too_large"
  case imageUndecodable = "image_undecodable"
  case thumbnailsUnavailable = "thumbnails_unavailable"
}

extension ServiceError {
  init(_ error: MediaError) {
    switch error {
    case .tooLarge(let limit): self = .media(.tooLarge(limit: limit))
    case .empty: self = .media(.problem(.empty))
    case .storageFull: self = .media(.problem(.storageFull))
    case .tooManyUploads: self = .media(.problem(.tooManyUploads))
    case .busy: self = .overloaded
    case .imageTooLarge: self = .media(.problem(.imageTooLarge))
    case .imageUndecodable: self = .media(.problem(.imageUndecodable))
    case .thumbnailsUnavailable: self = .media(.problem(.thumbnailsUnavailable))
    case .failed(let why): self = .failed(why)
    }
  }
}
