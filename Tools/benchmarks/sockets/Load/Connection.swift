import Glibc

/// Where all connections read.
struct ReadBuffer {
  static let readBytes = 262_144
  /// What a connection can keep for its next read.
  static let keptBytes = 1_024

  let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: readBytes + keptBytes, alignment: 16)
}

/// A TCP connection to the server. It does not parse what arrives: it only searches for texts.
final class Connection {
  /// How long a read waits.
  private static let patienceSeconds = 60

  let descriptor: Int32
  private let buffer: ReadBuffer
  /// The end of what was read, in which a text can begin that the next read continues.
  private var kept: [UInt8] = []

  /// - Parameter host: the client's address is 127.0.0.`host`.
  init(port: UInt16, from host: Int = 1, _ buffer: ReadBuffer) throws {
    self.buffer = buffer
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw Failure(system: "socket") }
    let bound = Self.withAddress(host: host, port: 0) { bind(descriptor, $0, $1) }
    guard bound == 0 else { throw Failure(system: "bind") }
    let connected = Self.withAddress(host: 1, port: port) { connect(descriptor, $0, $1) }
    guard connected == 0 else { throw Failure(system: "connect") }
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    var patience = timeval(tv_sec: Self.patienceSeconds, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  private static func withAddress(
    host: Int, port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = (UInt32(0x7F00_0000) + UInt32(host)).bigEndian
    return withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
  }

  /// Sends all of it, and waits if the server does not take it.
  func send(_ data: [UInt8]) throws {
    try data.withUnsafeBytes { bytes in
      var sent = 0
      while sent < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
        let count = Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
        guard count > 0 else { throw Failure(system: "send") }
        sent += count
      }
    }
  }

  /// Waits for a text, and discards what was read with it. Keeps more than the text needs, which an error shows.
  func wait(for text: SearchedText) throws {
    var found = false
    while !found {
      try read(waits: true, keeping: ReadBuffer.keptBytes) { bytes in
        found = text.end(in: bytes) != nil
        return found ? bytes.count : 0
      }
    }
  }

  /// How often a text is in what has arrived.
  func count(_ text: SearchedText, waits: Bool = false) throws -> Int {
    var count = 0
    try read(waits: waits, keeping: text.longestStart) { bytes in
      var used = 0
      while let end = text.end(in: bytes, from: used) { (count, used) = (count + 1, end) }
      return used
    }
    return count
  }

  /// Discards what has arrived.
  func drain() throws {
    try read(keeping: 0) { $0.count }
  }

  /// Reads once, and gives `body` what an earlier call left and what has arrived.
  /// - Parameters:
  ///   - waits: whether to wait if nothing has arrived. Otherwise `body` is not called then.
  ///   - keeping: how much to keep of what `body` has not used, at the end.
  ///   - body: returns how many bytes at the beginning it has used.
  func read(waits: Bool = false, keeping: Int, _ body: (UnsafeRawBufferPointer) throws -> Int) throws {
    kept.withUnsafeBytes { buffer.bytes.copyMemory(from: $0) }
    let free = UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[kept.count...].prefix(ReadBuffer.readBytes))
    let count = recv(descriptor, free.baseAddress, free.count, waits ? 0 : Int32(MSG_DONTWAIT))
    if count < 0, errno == EAGAIN, !waits { return }
    guard count >= 0 else { throw Failure(system: "recv") }
    let bytes = UnsafeRawBufferPointer(rebasing: buffer.bytes[..<(kept.count + count)])
    guard count > 0 else {
      throw Failure("the server closed a connection; before: \(String(decoding: bytes, as: UTF8.self))")
    }
    let used = try body(bytes)
    kept = Array(bytes[used...].suffix(keeping))
  }
}
