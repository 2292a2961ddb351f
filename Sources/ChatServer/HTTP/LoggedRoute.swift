import HTTPTypes
import Hummingbird

/// How the server's log names the route of a request. Its path may contain the token of an invite.
enum LoggedRoute {
  /// The longest method that is logged; clients can send others.
  private static let methodCharacters = 16
  /// Hummingbird's name for the route of requests that match none.
  private static let noRoute = "NotFound"

  static func method(_ request: Request) -> String { String(request.method.rawValue.prefix(methodCharacters)) }

  /// The path as it is declared, or `none`.
  static func path(_ context: ServerContext) -> String {
    guard let path = context.endpointPath, path != noRoute else { return "none" }
    return path
  }

  /// The method and the path.
  static func text(_ request: Request, _ context: ServerContext) -> String {
    "\(method(request)) \(path(context))"
  }
}
