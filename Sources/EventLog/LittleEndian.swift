import ChatPrimitives

/// Reads values at the offsets in the tables of `docs/log-format.md`. Returns nil beyond the end and never traps.
extension RawSpan {
  func integer<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Value.Type = Value.self) -> Value? {
    guard offset >= 0, offset <= byteCount, byteCount - offset >= MemoryLayout<Value>.size else { return nil }
    return Value(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: Value.self))
  }

  /// Sixteen bytes in network order.
  func uuid(at offset: Int) -> UUIDBytes? {
    guard let high = integer(at: offset, as: UInt64.self), let low = integer(at: offset + 8, as: UInt64.self) else {
      return nil
    }
    return UUIDBytes(high: high.byteSwapped, low: low.byteSwapped)
  }

  /// A copy of `count` bytes.
  func array(at offset: Int, count: Int) -> [UInt8]? {
    guard count >= 0, offset >= 0, offset <= byteCount, byteCount - offset >= count else { return nil }
    return extracting(offset..<offset + count).withUnsafeBytes { [UInt8]($0) }
  }

  /// Whether all bytes of a range within bounds are zero.
  func isZero(_ range: Range<Int>) -> Bool {
    guard range.lowerBound >= 0, range.upperBound <= byteCount else { return false }
    return extracting(range).isZero
  }

  /// Whether all bytes are zero.
  var isZero: Bool {
    withUnsafeBytes { bytes in Zeros.holdsOnlyZeros(bytes) }
  }
}

/// Writes values at offsets. The caller must provide a buffer that is large enough.
extension UnsafeMutableRawBufferPointer {
  func put<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
  }

  /// Sixteen bytes in network order.
  func put(_ uuid: UUIDBytes, at offset: Int) {
    storeBytes(of: uuid.high.bigEndian, toByteOffset: offset, as: UInt64.self)
    storeBytes(of: uuid.low.bigEndian, toByteOffset: offset + 8, as: UInt64.self)
  }
}
