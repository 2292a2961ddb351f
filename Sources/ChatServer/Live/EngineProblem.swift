import ChatProtocol
import Hummingbird
import SocketProtocols

/// An error of Engine.IO in the form that its clients know, with the code of Hansard.
private struct EngineProblem: Encodable {
  let code: Int
  let message: String
  let problem: String
}

extension EngineError {
  /// - Parameter problem: the code of Hansard, if a more exact one is known.
  func response(_ problem: ProblemCode? = nil) throws -> Response {
    let problem = problem ?? problemCode
    return try JSONBody.response(
      problemCode.status, EngineProblem(code: rawValue, message: message, problem: problem.rawValue))
  }

  private var problemCode: ProblemCode {
    switch self {
    case .unknownTransport: .engineTransportUnknown
    case .unknownSession: .engineSessionUnknown
    case .badHandshakeMethod: .engineMethodInvalid
    case .badRequest: .engineRequestInvalid
    case .forbidden: .originNotAllowed
    case .unsupportedVersion: .engineVersionUnsupported
    }
  }
}
