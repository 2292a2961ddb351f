import Glibc
import HummingbirdCore
import NIOCore
import NIOPosix

/// An address to listen on, and the setting that names it.
struct ConfiguredAddress: Sendable {
  let host: String
  let port: Int
  /// What an operator changes to listen elsewhere.
  let setting: String

  /// The address on which the API is served.
  static func api(_ host: String, _ port: Int) -> ConfiguredAddress {
    ConfiguredAddress(host: host, port: port, setting: "--listen HOST:PORT")
  }

  var bindAddress: BindAddress { .hostname(host, port: port) }

  /// The error for a failure to listen. Any other error is returned as it is.
  func listenError(_ error: any Error) -> any Error {
    switch error {
    case let error as IOError: ListenError(self, number: error.errnoCode)
    case is SocketAddressError:
      ListenError(self, reason: "the name has no address", next: "correct it with \(setting)")
    default: error
    }
  }
}

/// The server cannot listen on an address.
package struct ListenError: Error, CustomStringConvertible {
  /// `HOST:PORT`
  package let address: String
  package let reason: String
  /// What an operator can do.
  package let next: String

  fileprivate init(_ address: ConfiguredAddress, reason: String, next: String) {
    let host = address.host.contains(":") ? "[\(address.host)]" : address.host
    self.address = "\(host):\(address.port)"
    self.reason = reason
    self.next = next
  }

  /// - Parameter number: the `errno` of the call that failed.
  fileprivate init(_ address: ConfiguredAddress, number: CInt) {
    let setting = address.setting
    switch number {
    case EADDRINUSE:
      self.init(
        address, reason: "another process uses the port",
        next: "end that process, which `ss -ltnp` shows, or choose another port with \(setting)")
    case EACCES:
      self.init(
        address, reason: "only root may listen on this port", next: "choose a port from 1024 on with \(setting)")
    case EADDRNOTAVAIL:
      self.init(
        address, reason: "this machine does not have the address",
        next: "choose an address of this machine, or 0.0.0.0, with \(setting)")
    default:
      self.init(
        address, reason: String(cString: strerror(number)), next: "choose another address with \(setting)")
    }
  }

  package var description: String { "the server cannot listen on \(address). \(reason). \(next)" }
}

extension HansardServer {
  /// Listens for a moment, to find out whether a server could.
  /// - Throws: `ListenError`.
  package static func checkAddress(host: String, port: Int) async throws {
    do {
      let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .bind(host: host, port: port).get()
      try await channel.close()
    } catch {
      throw ConfiguredAddress.api(host, port).listenError(error)
    }
  }
}
