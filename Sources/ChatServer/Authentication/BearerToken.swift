/// The token of an `Authorization` header (RFC 6750, section 2.1).
enum BearerToken {
  /// Accepts visible ASCII only: Swift compares strings by canonical equivalence, so another token could equal a valid
  /// one.
  /// - Throws: `Refusal.accessTokenInvalid` for another scheme, and for a token that is empty or has characters other
  ///   than visible ASCII.
  static func token(in header: String) throws(Refusal) -> String {
    // Works on bytes, which is faster: every request is parsed here.
    let bytes = header.utf8
    let scheme = bytes.prefix { $0 != UInt8(ascii: " ") }
    let token = bytes.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") }
    guard !token.isEmpty, token.allSatisfy({ $0 > UInt8(ascii: " ") && $0 < 0x7f }),
      String(Substring(scheme)).lowercased() == "bearer"
    else { throw .accessTokenInvalid }
    return String(Substring(token))
  }
}
