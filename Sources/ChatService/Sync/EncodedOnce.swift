import Synchronization

/// The JSON of an item that many users get, once somebody has encoded it.
package final class EncodedOnce: Sendable {
  private let json = Mutex<[UInt8]?>(nil)

  package init() {}

  /// - Parameter encode: called if nobody has encoded the item. Two callers can do so at the same time, with the same
  ///   result.
  package func json(_ encode: () throws -> [UInt8]) rethrows -> [UInt8] {
    if let known = json.withLock({ $0 }) { return known }
    let new = try encode()
    json.withLock { $0 = new }
    return new
  }
}
