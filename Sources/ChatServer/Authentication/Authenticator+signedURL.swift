import ChatPrimitives
import ChatProtocol
import ChatService
import HTTPTypes
import Hummingbird

extension Authenticator {
  /// The caller for whom the URL of a download was signed. The signature does not count if the request has a token too.
  ///
  /// The handler checks whether the user can still see the file, as for every request.
  /// - Returns: nil if the request has no signature, or a token.
  func signedCaller(
    of request: Request, _ parameters: Parameters, for endpoint: AnyEndpoint, at now: Timestamp
  ) throws -> Caller? {
    guard endpoint.query.contains("signature"), request.headers[.authorization] == nil,
      let signature = try request.uri.parameter("signature")
    else { return nil }
    guard let media = parameters.get("mediaId").flatMap({ MediaID($0) }) else { throw Refusal.invalidID("mediaId") }
    let width = endpoint.path == Endpoints.getThumbnail.path ? try request.uri.thumbnailWidth() : nil
    guard let grant = chat.mediaSignatures.grant(in: signature, for: media, width: width) else {
      throw Refusal.signatureInvalid
    }
    guard now < grant.expiresAt else { throw Refusal.signatureExpired }
    let principal = Principal(user: grant.user, session: grant.session)
    try requireStillValid(principal)
    return Caller(
      principal: principal, expiresAt: grant.expiresAt, credentials: Credentials(authorization: nil),
      hasSignedURL: true)
  }
}
