import ChatService

/// The user whom the last message of a connection named by its token. Most connections have one user, so their requests need
/// neither parse the token nor search the table of verified tokens.
struct RememberedUser: Sendable {
  /// The value of `Authorization`.
  let authorization: [UInt8]
  let token: VerifiedToken

  /// Whether a request has the same value.
  func isNamed(by bytes: UnsafeRawBufferPointer) -> Bool {
    authorization.withUnsafeBytes { $0.count == bytes.count && $0.elementsEqual(bytes) }
  }
}
