import HTTPTypes
import Hummingbird

/// How the server's log names the route of a request. Its path may contain the token of an invite.
enum LoggedRoute {
  /// The longest method that is logged; clients can send others.
  private static let methodCharacters = 16
  /// Hummingbird's name for the route of requests that match none.
  private static let noRoute = "NotFound"
  /// What is logged and counted as the route of a request that has none.
  static let none = "none"

  static func method(_ method: HTTPRequest.Method) -> String { String(method.rawValue.prefix(methodCharacters)) }

  /// The path as it is declared.
  static func path(_ declared: String?) -> String {
    guard let declared, declared != noRoute else { return none }
    return declared
  }

  /// The method and the path.
  static func text(_ request: Request, _ context: ServerContext) -> String {
    "\(method(request.method)) \(path(context.endpointPath))"
  }
}
