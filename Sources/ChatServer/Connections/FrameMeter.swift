import ChatPrimitives
import NIOCore

/// Finds the frames of an HTTP/2 connection in the bytes that its client sends (RFC 9113, sections 3.4 and 4.1),
/// without storing them. Counts those that request nothing: all but DATA, HEADERS and CONTINUATION, which have their
/// own limits.
struct FrameMeter: Sendable {
  private enum State: Sendable, Hashable {
    /// The client's preface, `count` bytes of which have arrived.
    case preface(count: Int)
    /// A frame's header, `count` bytes of which have arrived.
    case header(count: Int)
    /// A frame's payload, `left` bytes of which are still to come.
    case payload(left: Int)
    /// Another protocol.
    case other
  }

  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
  /// The size of a frame's header in bytes, and the index of its type.
  private static let headerBytes = 9
  private static let typeIndex = 3
  private static let uncounted: Set<UInt8> = [0x0, 0x1, 0x9]

  private var state = State.preface(count: 0)
  private var length = 0
  private var type: UInt8 = 0

  /// - Returns: how many frames that request nothing have a header that ends in these bytes.
  mutating func count(_ buffer: ByteBuffer) -> Int {
    buffer.withUnsafeReadableBytes { bytes in
      var found = 0
      var index = 0
      while index < bytes.count {
        switch state {
        case .preface(let count):
          take(bytes[index], ofPreface: count)
          index += 1
        case .header(let count):
          if take(bytes[index], ofHeader: count) { found += 1 }
          index += 1
        case .payload(let left):
          let passed = min(left, bytes.count - index)
          index += passed
          state = passed == left ? .header(count: 0) : .payload(left: left - passed)
        case .other: return found
        }
      }
      return found
    }
  }

  private mutating func take(_ byte: UInt8, ofPreface count: Int) {
    guard byte == Self.preface[count] else {
      state = .other
      return
    }
    state = count + 1 == Self.preface.count ? .header(count: 0) : .preface(count: count + 1)
  }

  /// - Returns: whether the header is complete and belongs to a frame that is counted.
  private mutating func take(_ byte: UInt8, ofHeader count: Int) -> Bool {
    if count < Self.typeIndex { length = length << 8 | Int(byte) }
    if count == Self.typeIndex { type = byte }
    guard count + 1 == Self.headerBytes else {
      state = .header(count: count + 1)
      return false
    }
    state = length == 0 ? .header(count: 0) : .payload(left: length)
    length = 0
    return !Self.uncounted.contains(type)
  }
}

/// How many frames that request nothing a client may send: some at once, some each second, and one more for each frame
/// that it is sent, because a client acknowledges what it receives.
struct FrameBudget: Sendable, Hashable {
  private var left = Limits.controlFrames
  /// In nanoseconds of a clock that only moves forward.
  private var refilledAt: UInt64
  private static let interval = 1_000_000_000 / UInt64(Limits.controlFramesPerSecond)

  init(at now: UInt64) {
    refilledAt = now
  }

  mutating func earn(_ frames: Int) { left += frames }

  /// - Returns: whether the frames were within the budget.
  mutating func spend(_ frames: Int, at now: UInt64) -> Bool {
    let fresh = (now - min(now, refilledAt)) / Self.interval
    refilledAt += fresh * Self.interval
    // What was earned is kept; time alone refills the budget only up to its initial size.
    left = max(left, min(Limits.controlFrames, left + Int(clamping: fresh)))
    left -= frames
    return left >= 0
  }
}
