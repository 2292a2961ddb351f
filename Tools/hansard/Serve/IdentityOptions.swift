import ChatProtocol
import ChatServer
import ChatService

/// The settings of accounts and trusted token issuers.
struct IdentityOptions: Sendable {
  let identity: IdentitySettings
  let rules: AccountRules
  let legacyStatus: LegacyStatus
  let endCursor: EndCursor

  /// Ten years, in seconds.
  private static let longestRefreshTokenLifetime = 315_360_000

  init(_ reader: inout SettingReader) {
    let refreshSeconds = reader.integer(
      "refreshTokenLifetime", default: 0, in: 0...Self.longestRefreshTokenLifetime,
      "seconds after which an unused refresh token expires; 0 means never")
    var rules = AccountRules(
      allowsGuests: reader.flag(
        "identity.guests", default: false,
        "whether accounts can have a password without an email address; see `identity.md`"),
      guestsCreateRooms: reader.flag(
        "identity.guestsCreateRooms", default: false, "whether guests can create rooms and workspaces"),
      refreshTokenLifetimeMilliseconds: refreshSeconds == 0 ? nil : Int64(refreshSeconds) * 1000)
    rules.finding = FindingRules(&reader)
    self.rules = rules
    identity = IdentitySettings(providers: Self.providers(&reader), external: Self.external(&reader))
    legacyStatus = LegacyStatus(
      isOn: reader.flag(
        "legacyStatus", default: false,
        "whether to respond 419 for `access_token_expired`, and 418 for every refusal of a refresh token, instead of 401, "
          + "for older apps"))
    endCursor =
      reader.text(
        "endCursor", default: EndCursor.null.rawValue, form: "null, \"0\" or empty",
        "the value of `nextCursor` and `previousCursor` at the end of a list: `null`, or the text `0` or an empty text. "
          + "As a cursor in a request, this text means the beginning of the list",
        parse: { EndCursor(rawValue: $0) }) ?? .null
  }

  private static func providers(_ reader: inout SettingReader) -> [TrustedIssuer] {
    let group = "identity.providers"
    var providers: [TrustedIssuer] = []
    for name in reader.names(under: group) {
      let found = issuer(&reader, "\(group).\(name)", of: "ID tokens")
      let nonce = reader.text(
        "\(group).\(name).nonce", default: NonceForm.plain.rawValue, form: "plain or sha256",
        "the form of `nonce` in ID tokens: the app's value (`plain`), or its SHA-256 in hexadecimal (`sha256`)",
        parse: { NonceForm(rawValue: $0) })
      guard var provider = found else { continue }
      provider.nonce = nonce ?? .plain
      if providers.contains(where: { $0.issuer == provider.issuer }) {
        reader.recordProblem(
          "\(group).\(name).issuer", because: "another provider has the same issuer \(provider.issuer)",
          next: "put the audiences of both into one provider")
      }
      providers.append(provider)
    }
    return providers
  }

  private static func external(_ reader: inout SettingReader) -> TrustedIssuer? {
    issuer(&reader, "identity.externalTokens", of: "your own server's tokens")
  }

  /// Reads every setting of the group, because reading also declares it. Nil if none is set or a required one is wrong.
  private static func issuer(_ reader: inout SettingReader, _ group: String, of what: String) -> TrustedIssuer? {
    let defaults = SignatureAlgorithm.allCases.map(\.rawValue)
    let issuer = reader.text("\(group).issuer", "the `iss` of \(what), byte for byte")
    let audiences = reader.texts("\(group).audiences", "the allowed values of `aud` in \(what)")
    let keys = reader.text(
      "\(group).jwks", "the JWK set with the issuer's keys: an `https` URL or a file; `http` only on this machine")
    let names = reader.texts("\(group).algorithms", default: defaults, "the allowed signature algorithms of \(what)")
    guard ["issuer", "audiences", "jwks", "algorithms"].contains(where: { reader.isSet("\(group).\($0)") }) else {
      return nil
    }
    guard let issuer, !issuer.isEmpty else {
      reader.recordProblem("\(group).issuer", because: "it is missing", next: "write the `iss` that the tokens have")
      return nil
    }
    if audiences.isEmpty {
      reader.recordProblem(
        "\(group).audiences", because: "without it, tokens issued to any other app would be accepted",
        next: "list the client IDs of your apps at the provider")
    }
    guard let keys, let location = KeyLocation(keys) else {
      reader.recordProblem(
        "\(group).jwks", because: "it is neither an https URL nor a file",
        next: "write the URL or file of the issuer's keys")
      return nil
    }
    let algorithms = names.compactMap { SignatureAlgorithm(rawValue: $0) }
    if algorithms.count != names.count || algorithms.isEmpty {
      reader.recordProblem(
        "\(group).algorithms", because: "only \(defaults.joined(separator: ", ")) are supported",
        next: "remove the others"
      )
    }
    return TrustedIssuer(issuer: issuer, audiences: audiences, keys: location, algorithms: Set(algorithms))
  }
}

extension FindingRules {
  init(_ reader: inout SettingReader) {
    self.init()
    byEmail = Self.scope(
      "people.findByEmail", byEmail,
      "who can be found by their email address: `nobody`, those who share a room or a workspace with the caller (`shared`; "
        + "not a workspace in which the caller is a guest), or `everyone`", &reader)
    byExternalID = Self.scope("people.findByExternalId", byExternalID, "the same for the `externalId`", &reader)
    byNickname = Self.scope("people.findByNickname", byNickname, "the same for the beginning of the nickname", &reader)
  }

  private static func scope(
    _ key: String, _ defaultScope: Scope, _ meaning: String, _ reader: inout SettingReader
  ) -> Scope {
    reader.text(
      key, default: defaultScope.rawValue, form: "nobody, shared or everyone", meaning, parse: { Scope(rawValue: $0) })
      ?? defaultScope
  }
}
