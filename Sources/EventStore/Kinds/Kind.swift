package import ChatPrimitives
import SwiftProtobuf

/// One kind of event of a family, with everything that the log and the tools need to know about it.
struct Kind<Event: Sendable>: Sendable {
  /// The number in every record of this kind. It never changes; zero is reserved.
  let number: UInt16
  /// The name that the tools print and filter by.
  let name: String
  /// Whether a proof may contain the payload.
  let disclosure: Disclosure
  let write: @Sendable (Event, inout EventOutput) -> Void
  /// Returns nil if the payload, and with it the event, was erased.
  let read: @Sendable (PayloadReader) throws(CodecError) -> Event?

  /// Creates a kind whose event is lost when its payload is erased.
  init<Body: SwiftProtobuf.Message>(
    _ number: UInt16, _ name: String, _ disclosure: Disclosure,
    write: @escaping @Sendable (Event, inout EventOutput) -> Void,
    read: @escaping @Sendable (Body, PayloadReader) throws -> Event
  ) {
    self.init(number, name, disclosure, write) { reader in
      guard let body = try reader.message(Body.self) else { return nil }
      return try read(body, reader)
    }
  }

  /// Creates a kind whose event is partly kept when its payload is erased.
  /// - Parameter read: receives nil for an erased payload.
  init<Body: SwiftProtobuf.Message>(
    _ number: UInt16, _ name: String, _ disclosure: Disclosure,
    write: @escaping @Sendable (Event, inout EventOutput) -> Void,
    readErasable read: @escaping @Sendable (Body?, PayloadReader) throws -> Event
  ) {
    self.init(number, name, disclosure, write) { reader in try read(try reader.message(Body.self), reader) }
  }

  /// Creates a kind without a payload. An erasure does not affect its events, so it can never undo a removal, for
  /// example.
  init(
    _ number: UInt16, _ name: String, write: @escaping @Sendable (Event, inout EventOutput) -> Void,
    readEnvelope read: @escaping @Sendable (PayloadReader) throws -> Event
  ) {
    self.init(number, name, .disclosed, write, read)
  }

  private init(
    _ number: UInt16, _ name: String, _ disclosure: Disclosure,
    _ write: @escaping @Sendable (Event, inout EventOutput) -> Void,
    _ read: @escaping @Sendable (PayloadReader) throws -> Event?
  ) {
    self.number = number
    self.name = name
    self.disclosure = disclosure
    self.write = write
    // Converts errors here, because otherwise the closures of all rows would have to declare `throws(CodecError)`.
    self.read = { reader throws(CodecError) in
      do {
        return try read(reader)
      } catch let error as CodecError {
        throw error
      } catch {
        throw reader.failure(.malformedPayload, String(describing: error))
      }
    }
  }
}

/// Whether the payloads of a kind may leave the server.
package enum Disclosure: Sendable {
  case disclosed
  /// The payloads can hold a key, a token, a credential or an address.
  case secret
}

/// A family of events whose kinds are in the table.
protocol KindFamily: Sendable {
  static var kinds: [Kind<Self>] { get }
  var kind: Kind<Self> { get }
}

extension KindFamily {
  func write(to output: inout EventOutput) {
    let kind = self.kind
    output.kind = kind.number
    kind.write(self, &output)
  }
}
