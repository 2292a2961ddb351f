/// The token of an `Authorization` header (RFC 6750, section 2.1).
enum BearerToken {
  /// - Throws: `Refusal.accessTokenInvalid` for another scheme, and for a token that is empty or not of visible ASCII
  ///   characters. Texts that differ in their bytes may be equal, so other characters could make a text that is equal to
  ///   another user's token.
  static func token(in header: String) throws(Refusal) -> String {
    // By bytes: every request comes through here.
    let bytes = header.utf8
    let scheme = bytes.prefix { $0 != UInt8(ascii: " ") }
    let token = bytes.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") }
    guard !token.isEmpty, token.allSatisfy({ $0 > UInt8(ascii: " ") && $0 < 0x7f }),
      String(Substring(scheme)).lowercased() == "bearer"
    else { throw .accessTokenInvalid }
    return String(Substring(token))
  }
}
