package import ChatDomain
import MediaFiles

/// Why a request was not served: a rejection, invalid input, or a state of the server.
package enum ServiceError: Error, Sendable {
  case rejected(Rejection)
  /// Several fields have the wrong form. The first flaw is the one that would be reported alone.
  case malformed([InputFlaw])
  /// Input with the wrong form, which is checked before any decision.
  case invalid(InvalidInput)
  /// A file was not accepted, or an image could not be shown.
  case media(MediaRefusal)
  /// The body of an upload could not be read. The error is the one that reading it threw.
  case unreadable(any Error)
  /// The server has too many requests in flight. Try again shortly.
  case overloaded
  /// The user has `Limits.streamsOfUser` open streams, or the device `Limits.streamsOfDevice`.
  case tooManyStreams
  /// The read models are too far behind the log.
  case projectionBehind
  /// The log no longer accepts events.
  case logPoisoned
  /// The server is being stopped.
  case shuttingDown
  /// The client has disconnected, and the request was stopped.
  case cancelled
  /// A failure of the server. The text is for the server's log, not for the client.
  case failed(String)
}

/// Input that is refused before any decision.
package enum InvalidInput: String, Sendable, CaseIterable {
  case passwordTooShort = "password_too_short"
  case passwordTooLong = "password_too_long"
  case passwordResetInvalid = "password_reset_invalid"
  case passwordResetExpired = "password_reset_expired"
  case passwordTooCommon = "password_too_common"
}

/// Why a file was not accepted, or an image could not be shown.
package enum MediaRefusal: Sendable, Hashable {
  /// The upload has more bytes than the limit.
  case tooLarge(limit: Int)
  case problem(MediaProblem)
}

/// The refusals that have their own codes.
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
