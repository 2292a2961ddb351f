import AsyncHTTPClient
import Foundation
import NIOHTTP1

/// A URL to which requests are posted. Parsing one takes several microseconds, so what is used again is kept.
struct ProviderAddress: Sendable {
  /// Without headers and body.
  private let empty: HTTPClient.Request

  /// - Throws: an error of `HTTPClient` if requests cannot be sent to the URL.
  init(_ url: String) throws { empty = try HTTPClient.Request(url: url, method: .POST) }

  var url: String { empty.url.absoluteString }

  func request(_ headers: HTTPHeaders, _ body: [UInt8]) -> HTTPClient.Request {
    var request = empty
    request.headers = headers
    request.body = .bytes(body)
    return request
  }
}
