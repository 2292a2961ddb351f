import AsyncHTTPClient
import NIOCore
import NIOPosix

/// Why a server could not be reached, in words.
enum ConnectionFailure {
  static func text(_ error: any Error) -> String {
    switch error {
    case let error as NIOConnectionError:
      if let failure = error.connectionErrors.first { return "\(error.host):\(error.port): \(text(failure.error))" }
      return "the name \(error.host) has no address"
    case let error as IOError: return SystemError.text(error.errnoCode)
    case let error as HTTPClientError where error == .connectTimeout: return "it does not respond"
    default: return String(describing: error)
    }
  }
}
