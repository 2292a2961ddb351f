import ChatPrimitives
import ChatProtocol
import Foundation
import Hummingbird
import HummingbirdCore

/// The readers for the parts of a query. Each throws the matching refusal.
extension URI {
  /// A query parameter, which may occur only once.
  func parameter(_ name: String) throws -> String? {
    let values = queryParameters.getAll(name)
    guard values.count <= 1 else { throw Refusal.invalidQuery("\(name) can be given only once.") }
    return values.first
  }

  /// Rejects query parameters that the endpoint does not have, and bytes that are not UTF-8.
  func requireQuery(of endpoint: AnyEndpoint) throws {
    guard let query, !query.isEmpty else { return }
    guard !query.utf8.contains(UInt8(ascii: "%")) || String(query).removingPercentEncoding != nil else {
      throw Refusal.invalidQuery("The query is not percent-encoded UTF-8.")
    }
    for (name, _) in queryParameters where !endpoint.query.contains(String(name)) {
      throw Refusal.invalidQuery("Unknown parameter \"\(name)\".")
    }
  }

  /// A number between `least` and `most`; nil if the query has none.
  func number(_ name: String, from least: Int = 1, atMost most: Int) throws -> Int? {
    guard let text = try parameter(name) else { return nil }
    // `Int` alone would accept a sign.
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let number = Int(text), (least...most).contains(number)
    else { throw Refusal.invalidQuery("\(name) must be a number from \(least) to \(most).") }
    return number
  }

  /// The requested width of a thumbnail in pixels.
  func thumbnailWidth() throws -> Int {
    try number("width", atMost: Limits.thumbnailWidestWidth) ?? Limits.thumbnailDefaultWidth
  }

  /// The elements of a query parameter, separated by commas; nil if the query does not have it.
  func list(_ name: String, atMost most: Int) throws -> [String]? {
    guard let text = try parameter(name) else { return nil }
    let elements = text.split(separator: ",", maxSplits: most, omittingEmptySubsequences: false)
    guard elements.count <= most else { throw Refusal.invalidQuery("\(name) can have at most \(most) elements.") }
    return elements.map { String($0) }
  }
}
