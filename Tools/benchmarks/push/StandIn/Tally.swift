import Foundation
import NIOCore
import NIOHPACK
import RecordedRequests
import Synchronization

/// What has arrived since the last instruction to begin.
final class Tally: Sendable {
  struct Kept {
    let provider: Provider
    let headers: HPACKHeaders
    let body: ByteBuffer
  }

  struct Arrived: Encodable {
    var count = 0
    /// When the first and the last request were complete, in nanoseconds of the monotonic clock.
    var first: UInt64 = 0
    var last: UInt64 = 0
    /// Of the bodies.
    var bodyBytes = 0
  }

  private struct State {
    var arrived: [Arrived] = Array(repeating: Arrived(), count: Provider.allCases.count)
    /// What all connections received, encrypted.
    var wireBytes = 0
    var connections = 0
    var keeps = false
    var kept: [Kept] = []
  }

  private let state = Mutex(State())

  func begin(keeps: Bool) {
    state.withLock {
      $0 = State()
      $0.keeps = keeps
    }
  }

  var keeps: Bool { state.withLock(\.keeps) }

  func add(_ provider: Provider, bodyBytes: Int) {
    let now = NIODeadline.now().uptimeNanoseconds
    state.withLock { state in
      let index = Self.index(provider)
      if state.arrived[index].count == 0 { state.arrived[index].first = now }
      state.arrived[index].count += 1
      state.arrived[index].last = now
      state.arrived[index].bodyBytes += bodyBytes
    }
  }

  func keep(_ kept: Kept) { state.withLock { $0.kept.append(kept) } }
  func add(wireBytes: Int) { state.withLock { $0.wireBytes += wireBytes } }
  func addConnection() { state.withLock { $0.connections += 1 } }

  struct Report: Encodable {
    var arrived: [String: Arrived]
    var wireBytes: Int
    /// How many connections were opened.
    var connections: Int
  }

  var report: Report {
    state.withLock { state in
      let arrived = Provider.allCases.map { ($0.rawValue, state.arrived[Self.index($0)]) }
      return Report(
        arrived: Dictionary(uniqueKeysWithValues: arrived), wireBytes: state.wireBytes, connections: state.connections)
    }
  }

  /// The requests to a provider that were kept.
  func recorded(_ provider: Provider) -> [RecordedRequest] {
    state.withLock { $0.kept }.filter { $0.provider == provider }.map { kept in
      // The client adds these itself.
      let headers = kept.headers.filter { !$0.name.hasPrefix(":") && $0.name != "content-length" }
      return RecordedRequest(
        path: kept.headers.first(name: ":path") ?? "/",
        headers: headers.map { RecordedRequest.Header($0.name, $0.value) }, body: Data(kept.body.readableBytesView))
    }
  }

  private static func index(_ provider: Provider) -> Int {
    switch provider {
    case .apns: 0
    case .fcm: 1
    case .webPush: 2
    case .token: 3
    }
  }
}
