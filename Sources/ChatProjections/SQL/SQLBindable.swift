package import ChatDomain
package import ChatPrimitives

/// A value that can be bound to one parameter of a statement, or to several consecutive ones.
package protocol SQLBindable {
  /// The number of parameters for a value of this type. A nil binds NULL to each of them.
  static var parameterCount: Int { get }
  func bind(to binder: inout Binder)
}

extension SQLBindable {
  package static var parameterCount: Int { 1 }
}

// Callers convert other integer types.

extension Int64: SQLBindable {
  package func bind(to binder: inout Binder) { binder.add(self) }
}

extension Int: SQLBindable {
  package func bind(to binder: inout Binder) { binder.add(Int64(self)) }
}

extension UInt64: SQLBindable {
  package func bind(to binder: inout Binder) { binder.add(self) }
}

/// Binds 1 or 0.
extension Bool: SQLBindable {
  package func bind(to binder: inout Binder) { binder.add(Int64(self ? 1 : 0)) }
}

extension String: SQLBindable {
  package func bind(to binder: inout Binder) {
    var text = self
    text.withUTF8 { binder.addText($0) }
  }
}

/// A text given as UTF-8 bytes. Bytes without this wrapper would be stored as a blob.
struct UTF8Text: SQLBindable {
  let bytes: [UInt8]

  func bind(to binder: inout Binder) {
    bytes.withUnsafeBufferPointer { binder.addText($0) }
  }
}

/// Binds a blob.
extension Array: SQLBindable where Element == UInt8 {
  package func bind(to binder: inout Binder) {
    withUnsafeBytes { binder.addBlob($0) }
  }
}

extension UUIDBytes: SQLBindable {
  package func bind(to binder: inout Binder) {
    withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { binder.addBlob($0) }
  }
}

/// A nil binds NULL to each parameter.
extension Optional: SQLBindable where Wrapped: SQLBindable {
  package static var parameterCount: Int { Wrapped.parameterCount }

  package func bind(to binder: inout Binder) {
    if let self {
      self.bind(to: &binder)
    } else {
      for _ in 0..<Wrapped.parameterCount { binder.addNull() }
    }
  }
}

// MARK: - The project's types

extension ID: SQLBindable {
  package func bind(to binder: inout Binder) { uuid.bind(to: &binder) }
}

extension LogPosition: SQLBindable {
  package func bind(to binder: inout Binder) { binder.add(value) }
}

extension Timestamp: SQLBindable {
  package func bind(to binder: inout Binder) { binder.add(milliseconds) }
}

extension Fingerprint: SQLBindable {
  package func bind(to binder: inout Binder) { bytes.bind(to: &binder) }
}

extension Role: SQLBindable {
  package func bind(to binder: inout Binder) { binder.add(Int64(rawValue)) }
}

/// Binds the position and the time.
extension Stamp: SQLBindable {
  package static var parameterCount: Int { 2 }

  package func bind(to binder: inout Binder) {
    position.bind(to: &binder)
    time.bind(to: &binder)
  }
}

/// Binds the thread and the ordinal.
extension MessageLocation: SQLBindable {
  package static var parameterCount: Int { 2 }

  package func bind(to binder: inout Binder) {
    binder.add(thread)
    binder.add(ordinal)
  }
}
