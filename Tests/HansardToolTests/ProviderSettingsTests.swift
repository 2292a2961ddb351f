import ChatPush
import Configuration
import Crypto
import Foundation
import Testing

@testable import hansard

@Suite("The settings of push providers")
struct ProviderSettingsTests {
  /// Files in a folder that the test removes.
  private final class Files {
    let folder = NSTemporaryDirectory() + "provider-settings-" + UUID().uuidString

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func write(_ text: String, _ name: String) throws -> ConfigContent {
      let path = folder + "/" + name
      try Data(text.utf8).write(to: URL(filePath: path))
      return .string(path)
    }
  }

  private let files: Files
  private let key: ConfigContent

  init() throws {
    files = try Files()
    key = try files.write(P256.Signing.PrivateKey().pemRepresentation, "key.p8")
  }

  private func sender(_ values: [String: ConfigContent]) async throws -> (any PushNotificationSender)? {
    let (settings, problems) = ServeSettings.readAll([.commandLine(values)])
    if let problem = problems.first { throw problem }
    return try await settings.push.start()?.sender
  }

  private func problem(_ values: [String: ConfigContent]) async -> String? {
    do {
      let sender = try await sender(values)
      await sender?.close()
      return nil
    } catch {
      return (error as? ToolError)?.description
    }
  }

  private var apns: [String: ConfigContent] {
    [
      "push.apns.keyFile": key, "push.apns.keyID": .string("KEY1234567"), "push.apns.teamID": .string("TEAM123456"),
      "push.apns.topic": .string("org.example.chat"),
    ]
  }

  @Test("without a provider, push is off; APNs and Web Push can be used together")
  func several() async throws {
    #expect(try await sender([:]) == nil)
    let both = apns.merging(["push.webPush.keyFile": key, "push.webPush.subject": .string("mailto:a@example.org")]) {
      first, _ in first
    }
    let sender = try #require(try await sender(both))
    #expect(sender.queueSettings.map(\.provider) == [.apns, .fcm, .webPush, .apnsSandbox])
    #expect(sender.queueSettings.allSatisfy { $0.requestsPerSecond == PushProviders.requestsPerSecond })
    await sender.close()
    await sender.close()
  }

  @Test("a number of requests per second applies to its provider")
  func rates() async throws {
    let values = apns.merging(["push.apns.requestsPerSecond": .int(5)]) { first, _ in first }
    let sender = try #require(try await sender(values))
    #expect(sender.queueSettings.map(\.requestsPerSecond) == [5, 10_000, 10_000, 5])
    await sender.close()
  }

  @Test("a webhook excludes the providers")
  func webhook() async throws {
    let secret = try files.write("0123456789abcdef", "secret")
    let values = apns.merging([
      "push.webhook": .string("http://localhost:1/push"), "push.secretFile": secret,
    ]) { first, _ in first }
    #expect(await problem(values)?.contains("push.webhook takes all of them") == true)
  }

  @Test("what is missing or wrong is named")
  func wrong() async throws {
    for name in ["keyID", "teamID", "topic"] {
      var values = apns
      values["push.apns.\(name)"] = nil
      #expect(await problem(values)?.contains("the setting push.apns.\(name) is missing") == true)
      #expect(
        await problem(["push.apns.\(name)": .string("x")])?.contains("there is no push.apns.keyFile") == true)
    }
  }

  @Test(
    "a setting without effect is named, with the one that is missing",
    arguments: [
      ("push.apns.certificateKeyFile", .string("x"), "push.apns.keyFile"),
      ("push.apns.environment", .string("sandbox"), "push.apns.keyFile"),
      ("push.apns.productionURL", .string("https://example.org"), "push.apns.keyFile"),
      ("push.apns.sandboxURL", .string("https://example.org"), "push.apns.keyFile"),
      ("push.apns.requestsPerSecond", .int(5), "push.apns.keyFile"),
      ("push.fcm.url", .string("https://example.org"), "push.fcm.keyFile"),
      ("push.fcm.androidChannel", .string("messages"), "push.fcm.keyFile"),
      ("push.fcm.androidAlerts", .string("data"), "push.fcm.keyFile"),
      ("push.fcm.requestsPerSecond", .int(5), "push.fcm.keyFile"),
      ("push.webPush.subject", .string("mailto:a@example.org"), "push.webPush.keyFile"),
      ("push.webPush.hosts", .stringArray(["example.org"]), "push.webPush.keyFile"),
      ("push.webPush.requestsPerSecond", .int(5), "push.webPush.keyFile"),
    ] as [(String, ConfigContent, String)])
  func withoutEffect(setting: String, value: ConfigContent, missing: String) async {
    #expect(
      await problem([setting: value])?.contains("the setting \(setting) has no effect. there is no \(missing)") == true)
  }

  @Test("a key and a certificate for APNs have settings of their own")
  func ofTheOther() async throws {
    let withKey = apns.merging(["push.apns.certificateKeyFile": key]) { first, _ in first }
    #expect(await problem(withKey)?.contains("there is no push.apns.certificateFile") == true)
    var withCertificate = apns.merging(["push.apns.certificateFile": key]) { first, _ in first }
    withCertificate["push.apns.keyFile"] = nil
    #expect(await problem(withCertificate)?.contains("the setting push.apns.keyID has no effect") == true)
  }

  @Test("each wrong value is named")
  func wrongValues() async throws {
    let text = try files.write("no key", "text")
    let cases: [([String: ConfigContent], String)] = [
      (["push.apns.keyFile": .string("/nowhere")], "/nowhere does not exist"),
      (["push.apns.keyFile": text], "push.apns.keyFile has no private key for ES256"),
      (["push.apns.keyID": .string("a b")], "push.apns.keyID is \"a b\""),
      (["push.apns.certificateFile": text], "both push.apns.keyFile and push.apns.certificateFile"),
      (["push.apns.environment": .string("test")], "production` or `sandbox"),
      (["push.apns.productionURL": .string("apple")], "push.apns.productionURL is \"apple\""),
      (["push.apns.sandboxURL": .string("http://localhost:1")], "push.apns.sandboxURL is \"http://localhost:1\""),
      (["push.fcm.keyFile": text], "push.fcm.keyFile is not the key of a service account"),
      (["push.webPush.keyFile": key], "the setting push.webPush.subject is missing"),
      (
        ["push.webPush.keyFile": key, "push.webPush.subject": .string("chat@example.org")],
        "push.webPush.subject is \"chat@example.org\""
      ),
      (
        ["push.webPush.keyFile": text, "push.webPush.subject": .string("mailto:chat@example.org")],
        "push.webPush.keyFile has no private key on P-256"
      ),
      (["push.authoritiesFile": text], "push.authoritiesFile cannot be used"),
      (["push.templatesFile": .string("/nowhere")], "the file of push.templatesFile cannot be read"),
      (["push.templatesFile": text], "the file is not JSON"),
      (["push.apns.requestsPerSecond": .int(0)], "0 is not in the range"),
    ]
    for (values, complaint) in cases {
      let found = await problem(values.merging(apns) { first, _ in first })
      #expect(found?.contains(complaint) == true, "\(complaint): \(found ?? "no problem")")
    }
  }

  @Test("the templates are read from the file")
  func templates() async throws {
    let file = try files.write(
      #"{"kinds": {"added": {"default": {"title": "{room}", "body": "Welcome"}}}}"#, "templates.json")
    for (values, isEmpty) in [(apns, true), (apns.merging(["push.templatesFile": file]) { first, _ in first }, false)] {
      let (settings, problems) = ServeSettings.readAll([.commandLine(values)])
      #expect(problems.isEmpty)
      let configuration = try await settings.push.providers.configuration()
      #expect((configuration.templates == PushTemplates()) == isEmpty)
    }
  }

  @Test("wrong templates prevent the start without a provider too, and the error names the member")
  func wrongTemplates() async throws {
    let file = try files.write(#"{"kinds": {"added": {"de": {"title": "{rom}", "body": "b"}}}}"#, "templates.json")
    let found = await problem(["push.templatesFile": file])
    #expect(found?.contains("push.templatesFile cannot be used. in \(files.folder)/templates.json") == true)
    #expect(found?.contains("kinds.added.de.title has the unknown placeholder {rom}. write {sender}") == true)
  }

  @Test("a service account's key needs all of its parts")
  func serviceAccount() async throws {
    let wrong = try files.write(#"{"type": "service_account", "project_id": "chat"}"#, "account.json")
    #expect(await problem(["push.fcm.keyFile": wrong])?.contains("it has no private_key_id") == true)
    let user = try files.write(
      #"{"type": "authorized_user", "project_id": "", "private_key_id": "", "private_key": "", "client_email": "", "token_uri": ""}"#,
      "user.json")
    #expect(await problem(["push.fcm.keyFile": user])?.contains("not \"service_account\"") == true)
  }
}
