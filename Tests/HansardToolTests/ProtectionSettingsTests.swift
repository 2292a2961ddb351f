import ChatDomain
import ChatServer
import Configuration
import Foundation
import Testing

@testable import hansard

@Suite struct ProtectionSettingsTests {
  private func read(_ text: String) throws -> (settings: ServeSettings, problems: [String]) {
    let (settings, problems) = ServeSettings.readAll([try .file("h.json", Data(text.utf8))])
    return (settings, problems.map(\.description))
  }

  @Test("every limit is read from its own key")
  func values() throws {
    let (settings, problems) = try read(
      """
      {
        "rateLimits": {
          "enabled": false, "countServices": true, "user": {"requests": 1, "seconds": 2},
          "device": {"requests": 3, "seconds": 4}, "address": {"requests": 5, "seconds": 6},
          "passwords": {"requests": 19, "seconds": 20}
        },
        "logins": {"slowed": false, "freeAttempts": 7, "freeAttemptsPerAddress": 8, "longestDelay": 9, "memory": 10},
        "quotas": {"messagesPerDay": 11, "mediaBytesPerDay": 12, "roomsPerDay": 22, "workspacesPerDay": 23,
          "invitesPerDay": 24, "scheduledBytesPerDay": 25, "eventsPerDay": 26, "bytesPerDay": 27, "countServices": true},
        "connections": {"maximum": 13, "headSeconds": 14, "bodySeconds": 15, "bodyBytesPerSecond": 16, "uploadBytesPerSecond": 18,
          "answerBytesPerSecond": 21},
        "tls": {"certificateFile": "c", "keyFile": "k", "http2": false},
        "proxies": {"trusted": ["10.0.0.0/8", "::1"]},
        "crossOrigin": {"origins": ["https://a.example", "http://localhost:3000"], "maximumAge": 17}
      }
      """)
    #expect(problems == [])
    let protection = settings.protection
    #expect(!protection.rateLimits.isOn && protection.rateLimits.countsServices)
    #expect(protection.rateLimits.user == RatePolicy(requests: 1, seconds: 2))
    #expect(protection.rateLimits.device == RatePolicy(requests: 3, seconds: 4))
    #expect(protection.rateLimits.address == RatePolicy(requests: 5, seconds: 6))
    #expect(protection.rateLimits.passwords == RatePolicy(requests: 19, seconds: 20))
    #expect(!protection.logins.isOn)
    #expect(protection.logins.account == AttemptPolicy(free: 7, longestDelay: 9, memory: 10))
    #expect(protection.logins.address == AttemptPolicy(free: 8, longestDelay: 9, memory: 10))
    var quotas = Quotas(
      messagesPerDay: 11, mediaBytesPerDay: 12, roomsPerDay: 22, workspacesPerDay: 23, invitesPerDay: 24,
      scheduledBytesPerDay: 25, eventsPerDay: 26, bytesPerDay: 27)
    quotas.countsServices = true
    #expect(settings.quotas == quotas)
    var connections = ConnectionSettings()
    (connections.maximum, connections.headSeconds) = (13, 14)
    (connections.bodySeconds, connections.bodyBytesPerSecond) = (15, 16)
    (connections.uploadBytesPerSecond, connections.responseBytesPerSecond) = (18, 21)
    #expect(protection.connections == connections)
    #expect(protection.tls == TLSSettings(certificateFile: "c", keyFile: "k", offersHTTP2: false))
    let ranges = ["10.0.0.0/8", "::1"].compactMap { NetworkRange($0) }
    #expect(protection.proxies == TrustedProxies(ranges))
    #expect(protection.crossOrigin.origins == ["https://a.example", "http://localhost:3000"])
    #expect(protection.crossOrigin.maximumAge == 17)
  }

  @Test("by default, rates, logins and daily quotas are limited, and TLS, proxies and CORS are off")
  func defaults() throws {
    let (settings, problems) = try read("{}")
    #expect(problems == [])
    #expect(settings.protection.rateLimits == RateLimitSettings() && settings.protection.rateLimits.isOn)
    #expect(settings.protection.logins == LoginSettings() && settings.protection.logins.isOn)
    #expect(settings.quotas == .standard && !settings.quotas.areOff)
    #expect(try read(#"{"quotas": {"enabled": false}}"#).settings.quotas.areOff)
    #expect(settings.protection.tls == nil)
    #expect(settings.protection.proxies == TrustedProxies([]))
    #expect(settings.protection.crossOrigin.origins == [])
  }

  @Test(
    "invalid values are refused, and named",
    arguments: [
      (#"{"proxies": {"trusted": ["10.0.0.0/8", "elsewhere"]}}"#, "proxies.trusted in h.json", "\"elsewhere\""),
      (#"{"crossOrigin": {"origins": ["app.example.org"]}}"#, "crossOrigin.origins in h.json", "is not an origin"),
      (#"{"crossOrigin": {"origins": ["https://a.example/"]}}"#, "crossOrigin.origins in h.json", "is not an origin"),
      (#"{"crossOrigin": {"origins": ["https://*.example"]}}"#, "crossOrigin.origins in h.json", "is not an origin"),
      (#"{"tls": {"certificateFile": "c"}}"#, "tls.certificateFile in h.json", "tls.keyFile is not set"),
      (#"{"quotas": {"messagesPerDay": -1}}"#, "quotas.messagesPerDay in h.json", "not in the range"),
      (#"{"rateLimits": {"user": {"seconds": 0}}}"#, "rateLimits.user.seconds in h.json", "not in the range"),
      (#"{"rateLimits": {"user": 5}}"#, "unknown setting rateLimits.user", "h.json"),
    ])
  func refused(text: String, place: String, reason: String) throws {
    let problems = try read(text).problems
    #expect(problems.count == 1)
    #expect(problems.first?.contains(place) == true && problems.first?.contains(reason) == true)
  }

  @Test(
    "connections and downloads leave room for each other and for the files that are open beside them",
    arguments: [
      (100, 1_024, 100, 192), (20_000, 1_024, 576, 192), (20_000, 4_351, 3_072, 1_023),
      (20_000, 4_352, 3_072, 1_024), (20_000, 4_356, 3_076, 1_024), (20_000, 1_048_576, 20_000, 1_024),
      (20_000, Int.max, 20_000, 1_024), (20_000, 258, 1, 1), (20_000, 10, 1, 1),
    ])
  func openFiles(wanted: Int, limit: Int, connections: Int, downloads: Int) {
    let shares = OpenFiles.shares(connections: wanted, limit: limit)
    #expect(shares == OpenFiles.Shares(connections: connections, downloads: downloads))
    #expect(limit <= OpenFiles.reserve + 1 || OpenFiles.reserve + shares.connections + shares.downloads <= limit)
  }

  @Test("the limit on open files is raised as far as it may be")
  func raisedLimit() {
    #expect(OpenFiles.raiseLimit() > OpenFiles.reserve)
  }
}
