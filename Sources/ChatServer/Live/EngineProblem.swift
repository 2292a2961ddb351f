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
  func response() throws -> Response {
    try JSONBody.response(
      problemCode.status, EngineProblem(code: rawValue, message: message, problem: problemCode.rawValue))
  }

  var problemCode: ProblemCode {
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
