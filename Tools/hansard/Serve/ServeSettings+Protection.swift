import ChatDomain
import ChatServer

// Settings that prevent clients from harming the server or each other.

extension RatePolicy {
  fileprivate static func read(
    _ name: String, default defaultPolicy: RatePolicy, _ reader: inout SettingReader
  ) -> RatePolicy {
    RatePolicy(
      requests: reader.integer(
        "rateLimits.\(name).requests", default: defaultPolicy.requests, in: 0...10_000_000,
        "requests that one \(name) can send at once; 0 means no limit"),
      seconds: reader.integer(
        "rateLimits.\(name).seconds", default: defaultPolicy.seconds, in: 1...86_400,
        "seconds in which a used-up limit refills completely"))
  }
}

extension RateLimitSettings {
  init(_ reader: inout SettingReader) {
    self.init()
    isOn = reader.flag("rateLimits.enabled", default: isOn, "whether requests are limited")
    user = .read("user", default: user, &reader)
    device = .read("device", default: device, &reader)
    address = .read("address", default: address, &reader)
    passwords = RatePolicy(
      requests: reader.integer(
        "rateLimits.passwords.requests", default: passwords.requests, in: 0...10_000_000,
        "requests that hash a password (logins, registrations, changes and "
          + "resets) that one address can send at once; 0 means no limit"),
      seconds: reader.integer(
        "rateLimits.passwords.seconds", default: passwords.seconds, in: 1...86_400,
        "seconds in which a used-up limit refills completely"))
    search = RatePolicy(
      requests: reader.integer(
        "rateLimits.search.kibibytes", default: search.requests, in: 0...10_000_000,
        "KiB of messages that one user's searches can read at once; one page reads up to 15,000; 0 means no limit"
      ),
      seconds: reader.integer(
        "rateLimits.search.seconds", default: search.seconds, in: 1...86_400,
        "seconds in which a used-up limit refills completely"
      ))
    people = RatePolicy(
      requests: reader.integer(
        "rateLimits.people.requests", default: people.requests, in: 0...10_000_000,
        "searches for users, by email address, `externalId` or nickname, that one user can send at once; 0 means no limit"
      ),
      seconds: reader.integer(
        "rateLimits.people.seconds", default: people.seconds, in: 1...86_400,
        "seconds in which a used-up limit refills completely"))
    countsServices = reader.flag(
      "rateLimits.countServices", default: countsServices, "whether requests with a service token count too")
  }
}

extension LoginSettings {
  init(_ reader: inout SettingReader) {
    self.init()
    isOn = reader.flag(
      "logins.slowed", default: isOn, "whether failed logins and wrong invite codes delay the next ones")
    account.free = reader.integer(
      "logins.freeAttempts", default: account.free, in: 1...1_000,
      "failed logins to one account, or wrong codes of one user, before each further attempt has to wait: one second, then "
        + "twice as long each time")
    address.free = reader.integer(
      "logins.freeAttemptsPerAddress", default: address.free, in: 1...1_000_000, "the same from one address")
    account.longestDelay = reader.integer(
      "logins.longestDelay", default: account.longestDelay, in: 1...86_400, "the longest wait, in seconds")
    account.memory = reader.integer(
      "logins.memory", default: account.memory, in: 1...604_800, "seconds after which failed attempts are forgotten")
    address.longestDelay = account.longestDelay
    address.memory = account.memory
  }
}

extension Quotas {
  init(_ reader: inout SettingReader) {
    self = .standard
    let isOn = reader.flag("quotas.enabled", default: true, "whether users have daily quotas")
    Self.read(
      &eventsPerDay, "events", "events of any kind that a user can cause per day in UTC", &reader)
    Self.read(&bytesPerDay, "bytes", "bytes of the log that these events can use, before compression", &reader)
    Self.read(&messagesPerDay, "messages", "messages that a user can send or schedule per day in UTC", &reader)
    Self.read(&mediaBytesPerDay, "mediaBytes", "bytes of media that a user can upload per day in UTC", &reader)
    Self.read(
      &roomsPerDay, "rooms", "rooms, channels and direct rooms that a user can create per day in UTC", &reader)
    Self.read(&workspacesPerDay, "workspaces", "workspaces that a user can create per day in UTC", &reader)
    Self.read(
      &invitesPerDay, "invites",
      "invite links that a user can create, and users whom a user can invite, per day in UTC", &reader)
    Self.read(
      &scheduledBytesPerDay, "scheduledBytes", "bytes of messages that a user can schedule per day in UTC", &reader)
    countsServices = reader.flag(
      "quotas.countServices", default: countsServices, "whether what a service does for a user counts too")
    if !isOn { self = Quotas() }
  }

  private static func read(_ limit: inout UInt64?, _ name: String, _ meaning: String, _ reader: inout SettingReader) {
    let number = reader.integer(
      "quotas.\(name)PerDay", default: Int(clamping: limit ?? 0), in: 0...Int.max, "\(meaning); 0 means no limit")
    limit = number == 0 ? nil : UInt64(clamping: number)
  }
}

extension ConnectionSettings {
  init(_ reader: inout SettingReader) {
    self.init()
    maximum = reader.integer(
      "connections.maximum", default: maximum, in: 1...10_000_000,
      "maximum number of open connections, or fewer if the limit on open files is lower; further ones wait")
    perAddress = reader.integer(
      "connections.perAddress", default: perAddress, in: 0...10_000_000,
      "maximum number of open connections of one address (for IPv6, its /64); further ones are closed. Proxies in "
        + "`proxies.trusted` are exempt; 0 means no limit")
    headSeconds = reader.integer(
      "connections.headSeconds", default: headSeconds, in: 1...3_600,
      "seconds within which the head of a request must be complete")
    bodySeconds = reader.integer(
      "connections.bodySeconds", default: bodySeconds, in: 1...3_600,
      "seconds before the minimum speeds of sending a body and of reading a response apply")
    bodyBytesPerSecond = reader.integer(
      "connections.bodyBytesPerSecond", default: bodyBytesPerSecond, in: 0...1_000_000_000,
      "minimum speed of a body after that, in bytes per second; 0 means no limit")
    uploadBytesPerSecond = reader.integer(
      "connections.uploadBytesPerSecond", default: uploadBytesPerSecond, in: 0...1_000_000_000,
      "the same for an uploaded file")
    responseBytesPerSecond = reader.integer(
      "connections.answerBytesPerSecond", default: responseBytesPerSecond, in: 0...1_000_000_000,
      "minimum speed of reading a waiting response, in bytes per second; 0 means no limit")
  }
}

extension TLSSettings {
  /// Nil if the certificate or the key is not set. It is an error to set only one of them.
  static func read(_ reader: inout SettingReader) -> TLSSettings? {
    let certificate = reader.text("tls.certificateFile", "the certificate and its chain, in PEM")
    let key = reader.text("tls.keyFile", "the certificate's private key, in PEM")
    let offersHTTP2 = reader.flag(
      "tls.http2", default: true, "whether HTTP/2 is offered (with ALPN) in addition to HTTP/1.1")
    switch (certificate, key) {
    case (nil, nil): return nil
    case (let certificate?, let key?):
      return TLSSettings(certificateFile: certificate, keyFile: key, offersHTTP2: offersHTTP2)
    case (_?, nil):
      reader.recordProblem("tls.certificateFile", because: "tls.keyFile is not set", next: "set both, or neither")
    case (nil, _?):
      reader.recordProblem("tls.keyFile", because: "tls.certificateFile is not set", next: "set both, or neither")
    }
    return nil
  }
}

extension TrustedProxies {
  init(_ reader: inout SettingReader) {
    let key = "proxies.trusted"
    let texts = reader.texts(
      key, "addresses, or ranges such as `10.0.0.0/8`, of proxies whose `X-Forwarded-For` is trusted")
    var ranges: [NetworkRange] = []
    for text in texts {
      if let range = NetworkRange(text) {
        ranges.append(range)
      } else {
        reader.recordProblem(
          key, because: "\"\(text)\" is neither an address nor a range of addresses",
          next: "write addresses like 10.1.2.3 or ranges like 10.0.0.0/8")
      }
    }
    self.init(ranges)
  }
}

extension CrossOriginSettings {
  init(_ reader: inout SettingReader) {
    self.init()
    let key = "crossOrigin.origins"
    origins = reader.texts(
      key, "origins of web pages that can use the API from a browser, such as `https://app.example.org`, or `*` for all"
    )
    maximumAge = reader.integer(
      "crossOrigin.maximumAge", default: maximumAge, in: 0...86_400,
      "seconds for which a browser can cache the response to a preflight")
    for origin in origins where !Self.isOrigin(origin) {
      reader.recordProblem(
        key, because: "\"\(origin)\" is not an origin",
        next: "write a scheme and a host, like https://app.example.org, or *")
    }
  }

  /// Whether the text is a possible `Origin` header: a scheme, a host and perhaps a port, with nothing after them.
  private static func isOrigin(_ text: String) -> Bool {
    if text == "*" { return true }
    let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
    return parts.count == 2 && !parts[0].isEmpty && !parts[1].isEmpty
      && !parts[1].contains { $0 == "/" || $0 == "*" || $0 == "?" || $0 == "#" || $0 == " " }
  }
}

extension ProtectionSettings {
  init(_ reader: inout SettingReader) {
    self.init()
    connections = ConnectionSettings(&reader)
    tls = .read(&reader)
    proxies = TrustedProxies(&reader)
    rateLimits = RateLimitSettings(&reader)
    logins = LoginSettings(&reader)
    crossOrigin = CrossOriginSettings(&reader)
  }
}
