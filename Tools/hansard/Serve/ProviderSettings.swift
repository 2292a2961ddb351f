import ArgumentParser
import ChatDomain
import ChatPush
import Configuration
import Foundation
import NIOSSL

/// The settings of the push providers that have command line options.
struct ProviderOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The .p8 file with the key that signs tokens for APNs.", valueName: "file"))
  var pushApnsKeyFile: String?

  @Option(name: .customLong("push-apns-key-id"), help: ArgumentHelp("The ID of that key.", valueName: "id"))
  var pushApnsKeyID: String?

  @Option(
    name: .customLong("push-apns-team-id"), help: ArgumentHelp("The ID of the team at Apple.", valueName: "id"))
  var pushApnsTeamID: String?

  @Option(help: ArgumentHelp("The client certificate for APNs, instead of a key.", valueName: "file"))
  var pushApnsCertificateFile: String?

  @Option(help: ArgumentHelp("The private key of that certificate.", valueName: "file"))
  var pushApnsCertificateKeyFile: String?

  @Option(help: ArgumentHelp("The bundle ID of the app.", valueName: "id"))
  var pushApnsTopic: String?

  @Option(help: ArgumentHelp("APNs environment of devices that name none: production or sandbox.", valueName: "name"))
  var pushApnsEnvironment: String?

  @Option(name: .customLong("push-apns-production-url"), help: ArgumentHelp("The URL of APNs.", valueName: "url"))
  var pushApnsProductionURL: String?

  @Option(
    name: .customLong("push-apns-sandbox-url"), help: ArgumentHelp("The URL of APNs' sandbox.", valueName: "url"))
  var pushApnsSandboxURL: String?

  @Option(help: ArgumentHelp("The maximum number of requests per second to APNs.", valueName: "number"))
  var pushApnsRequestsPerSecond: Int?

  @Option(help: ArgumentHelp("The JSON key file of a service account for FCM.", valueName: "file"))
  var pushFcmKeyFile: String?

  @Option(name: .customLong("push-fcm-url"), help: ArgumentHelp("The URL of FCM.", valueName: "url"))
  var pushFcmURL: String?

  @Option(help: ArgumentHelp("The maximum number of requests per second to FCM.", valueName: "number"))
  var pushFcmRequestsPerSecond: Int?

  @Option(help: ArgumentHelp("The Android channel of alerts.", valueName: "id"))
  var pushFcmAndroidChannel: String?

  @Option(help: ArgumentHelp("Who shows alerts on Android: notification (Android), data (the app).", valueName: "form"))
  var pushFcmAndroidAlerts: String?

  @Option(help: ArgumentHelp("The private key for Web Push (P-256, PEM).", valueName: "file"))
  var pushWebPushKeyFile: String?

  @Option(help: ArgumentHelp("Your contact for push services: a mailto: or https: URL.", valueName: "url"))
  var pushWebPushSubject: String?

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("The hosts to which messages for browsers may be sent.", valueName: "host"))
  var pushWebPushHosts: [String] = []

  @Option(help: ArgumentHelp("The maximum number of requests per second for Web Push.", valueName: "number"))
  var pushWebPushRequestsPerSecond: Int?

  @Option(help: ArgumentHelp("Certificate authorities that push trusts besides the system's.", valueName: "file"))
  var pushAuthoritiesFile: String?

  @Option(help: ArgumentHelp("The JSON file with your own texts of notifications.", valueName: "file"))
  var pushTemplatesFile: String?

  var values: [String: ConfigContent?] {
    let texts = [
      "push.apns.keyFile": pushApnsKeyFile, "push.apns.keyID": pushApnsKeyID, "push.apns.teamID": pushApnsTeamID,
      "push.apns.certificateFile": pushApnsCertificateFile,
      "push.apns.certificateKeyFile": pushApnsCertificateKeyFile, "push.apns.topic": pushApnsTopic,
      "push.apns.environment": pushApnsEnvironment, "push.apns.productionURL": pushApnsProductionURL,
      "push.apns.sandboxURL": pushApnsSandboxURL, "push.fcm.keyFile": pushFcmKeyFile, "push.fcm.url": pushFcmURL,
      "push.fcm.androidChannel": pushFcmAndroidChannel, "push.fcm.androidAlerts": pushFcmAndroidAlerts,
      "push.webPush.keyFile": pushWebPushKeyFile,
      "push.webPush.subject": pushWebPushSubject, "push.authoritiesFile": pushAuthoritiesFile,
      "push.templatesFile": pushTemplatesFile,
    ]
    let numbers = [
      "push.apns.requestsPerSecond": pushApnsRequestsPerSecond, "push.fcm.requestsPerSecond": pushFcmRequestsPerSecond,
      "push.webPush.requestsPerSecond": pushWebPushRequestsPerSecond,
    ]
    var values: [String: ConfigContent?] = texts.mapValues { $0.map { .string($0) } }
    for (key, number) in numbers { values[key] = .some(number.map { .int($0) }) }
    values["push.webPush.hosts"] = .some(pushWebPushHosts.isEmpty ? nil : .stringArray(pushWebPushHosts))
    return values
  }
}

/// The settings of APNs, FCM and Web Push.
struct ProviderSettings: Sendable {
  /// The maximum of the setting `requestsPerSecond`.
  private static let mostRequestsPerSecond = 1_000_000

  private let apns: [String: String]
  private let fcm: [String: String]
  private let webPush: [String: String]
  private let hosts: [String]
  private let environment: APNsEnvironment
  private let androidAlerts: FCMAndroid.Alerts
  private let requestsPerSecond: [ProviderName: Int]
  private let authoritiesFile: String?
  private let templatesFile: String?
  /// The keys of the settings of push that have a value.
  private let given: Set<String>

  init(_ reader: inout SettingReader) {
    var requests: [ProviderName: Int] = [:]
    var environment = APNsEnvironment.production
    var androidAlerts = FCMAndroid.Alerts.notification
    apns = Self.readAPNs(&reader, &environment, &requests)
    fcm = Self.readFCM(&reader, &androidAlerts, &requests)
    webPush = Self.texts(
      &reader, "push.webPush.",
      [
        ("keyFile", "--push-web-push-key-file", nil, "the private key for Web Push (P-256, PEM)"),
        (
          "subject", "--push-web-push-subject", nil,
          "a `mailto:` or `https:` URL at which push services can contact you"
        ),
      ])
    hosts = reader.texts(
      "push.webPush.hosts", option: "--push-web-push-hosts", default: WebPushHosts.defaults,
      "the hosts to which messages for browsers may be sent; `.example.org` allows every host below `example.org`")
    requests[.webPush] = Self.requests(&reader, "push.webPush", "--push-web-push-requests-per-second")
    authoritiesFile = reader.text(
      "push.authoritiesFile", option: "--push-authorities-file",
      "certificate authorities in PEM that push trusts besides the system's, for tests and proxies")
    templatesFile = reader.text(
      "push.templatesFile", option: "--push-templates-file",
      "the JSON file with your own texts of notifications; see `push.md`")
    self.environment = environment
    self.androidAlerts = androidAlerts
    requestsPerSecond = requests
    given = Set(reader.settings.map(\.key).filter { $0.hasPrefix("push.") && reader.isSet($0) })
  }

  private static func readAPNs(
    _ reader: inout SettingReader, _ environment: inout APNsEnvironment,
    _ requests: inout [ProviderName: Int]
  ) -> [String: String] {
    var values = texts(
      &reader, "push.apns.",
      [
        (
          "keyFile", "--push-apns-key-file", nil,
          "the `.p8` file with the key that signs tokens for APNs; see `push.md`"
        ),
        ("keyID", "--push-apns-key-id", nil, "the ID of the key in `push.apns.keyFile`"),
        ("teamID", "--push-apns-team-id", nil, "the ID of the team in Apple's developer account"),
        (
          "certificateFile", "--push-apns-certificate-file", nil,
          "a client certificate for APNs in PEM, instead of a key"
        ),
        (
          "certificateKeyFile", "--push-apns-certificate-key-file", nil,
          "the private key of the certificate, in PEM; without it, `push.apns.certificateFile` has both"
        ),
        ("topic", "--push-apns-topic", nil, "the bundle ID of the app"),
      ])
    environment =
      reader.text(
        "push.apns.environment", option: "--push-apns-environment", default: environment.name,
        form: "`production` or `sandbox`", "the APNs environment of devices that name none",
        parse: { APNsEnvironment(name: $0) }) ?? environment
    values.merge(
      texts(
        &reader, "push.apns.",
        [
          ("productionURL", "--push-apns-production-url", APNsConfiguration.defaultProductionURL, "the URL of APNs"),
          ("sandboxURL", "--push-apns-sandbox-url", APNsConfiguration.defaultSandboxURL, "the URL of APNs' sandbox"),
        ])
    ) { first, _ in first }
    requests[.apns] = self.requests(&reader, "push.apns", "--push-apns-requests-per-second")
    return values
  }

  private static func readFCM(
    _ reader: inout SettingReader, _ androidAlerts: inout FCMAndroid.Alerts, _ requests: inout [ProviderName: Int]
  ) -> [String: String] {
    var values = texts(
      &reader, "push.fcm.",
      [
        ("keyFile", "--push-fcm-key-file", nil, "the JSON key file of a service account that may send through FCM"),
        ("url", "--push-fcm-url", FCMConfiguration.defaultURL, "the URL of FCM"),
      ])
    requests[.fcm] = self.requests(&reader, "push.fcm", "--push-fcm-requests-per-second")
    values.merge(
      texts(
        &reader, "push.fcm.",
        [
          (
            "androidChannel", "--push-fcm-android-channel", nil,
            "the Android channel of alerts; without it, the app's default"
          )
        ])
    ) { first, _ in first }
    androidAlerts =
      reader.text(
        "push.fcm.androidAlerts", option: "--push-fcm-android-alerts", default: androidAlerts.rawValue,
        form: "`notification` or `data`",
        "`notification`: Android shows alerts while the app is in the background; `data`: the app shows them itself",
        parse: { FCMAndroid.Alerts(rawValue: $0) }) ?? androidAlerts
    return values
  }

  private typealias Text = (name: String, option: String, defaultValue: String?, meaning: String)

  private static func texts(_ reader: inout SettingReader, _ group: String, _ texts: [Text]) -> [String: String] {
    var values: [String: String] = [:]
    for text in texts {
      values[text.name] = reader.text(
        group + text.name, option: text.option, default: text.defaultValue, text.meaning)
    }
    return values
  }

  private static func requests(_ reader: inout SettingReader, _ group: String, _ option: String) -> Int {
    reader.integer(
      group + ".requestsPerSecond", option: option, default: PushProviders.requestsPerSecond,
      in: 1...mostRequestsPerSecond, "maximum number of requests per second")
  }

  /// The files with keys that the settings name.
  var secretFiles: [String] {
    [apns["keyFile"], apns["certificateKeyFile"], fcm["keyFile"], webPush["keyFile"]].compactMap { $0 }
  }

  /// Whether messages may be sent to an endpoint of Web Push; nil if Web Push is not configured.
  var allowsWebPushEndpoint: (@Sendable (_ endpoint: String) -> Bool)? {
    guard webPush["keyFile"] != nil else { return nil }
    return { [hosts = WebPushHosts(hosts)] endpoint in hosts.allows(endpoint) }
  }

  // MARK: - The providers

  /// Reads the files that the settings name.
  /// - Throws: `ToolError` if a setting is missing or a file cannot be used.
  func configuration() async throws -> PushProviders.Configuration {
    var configuration = PushProviders.Configuration()
    configuration.requestsPerSecond = requestsPerSecond
    do {
      configuration.apns = try await apnsConfiguration()
      configuration.fcm = try await fcmConfiguration()
      configuration.webPush = try await webPushConfiguration()
    } catch let error as ProviderConfigurationError {
      throw ToolError("a push provider cannot be used", because: error.description, next: error.next)
    }
    if let authoritiesFile {
      do {
        configuration.authorities = try NIOSSLCertificate.fromPEMFile(authoritiesFile)
      } catch {
        throw ToolError(
          "push.authoritiesFile cannot be used",
          because: "\(authoritiesFile) has no certificates in PEM, or is unreadable",
          next: "name a file with the certificates of the authorities")
      }
    }
    configuration.templates = try templates()
    return configuration
  }

  private func templates() throws(ToolError) -> PushTemplates {
    guard let templatesFile else { return PushTemplates() }
    let content = try Self.content(templatesFile, "push.templatesFile")
    do {
      return try PushTemplates(json: content)
    } catch {
      throw ToolError(
        "push.templatesFile cannot be used", because: "in \(templatesFile), \(error.description)", next: error.next)
    }
  }

  private func apnsConfiguration() async throws -> APNsConfiguration? {
    let group = "push.apns"
    guard apns["keyFile"] != nil || apns["certificateFile"] != nil else {
      try rejectAll(group, without: "keyFile")
      return nil
    }
    let topic = try Self.required("topic", of: apns, group)
    var configuration: APNsConfiguration
    switch (apns["keyFile"], apns["certificateFile"]) {
    case (_?, _?):
      throw ToolError(
        "APNs cannot be used", because: "both push.apns.keyFile and push.apns.certificateFile are given",
        next: "remove one of them")
    case (nil, let certificate?):
      try reject(["push.apns.keyID", "push.apns.teamID"], without: "push.apns.keyFile")
      configuration = try APNsConfiguration(
        certificate: Self.content(certificate, "push.apns.certificateFile"),
        key: Self.content(apns["certificateKeyFile"] ?? certificate, "push.apns.certificateKeyFile"), topic: topic)
    case (let key, nil):
      try reject(["push.apns.certificateKeyFile"], without: "push.apns.certificateFile")
      configuration = try await APNsConfiguration(
        key: Self.content(key ?? "", "push.apns.keyFile"), keyID: Self.required("keyID", of: apns, group),
        teamID: Self.required("teamID", of: apns, group), topic: topic)
    }
    try configuration.set(
      environment: environment, productionURL: apns["productionURL"] ?? APNsConfiguration.defaultProductionURL,
      sandboxURL: apns["sandboxURL"] ?? APNsConfiguration.defaultSandboxURL)
    return configuration
  }

  private func fcmConfiguration() async throws -> FCMConfiguration? {
    guard let key = fcm["keyFile"] else {
      try rejectAll("push.fcm", without: "keyFile")
      return nil
    }
    return try await FCMConfiguration(
      key: Self.content(key, "push.fcm.keyFile"), url: fcm["url"] ?? FCMConfiguration.defaultURL,
      android: FCMAndroid(channel: fcm["androidChannel"], alerts: androidAlerts))
  }

  private func webPushConfiguration() async throws -> WebPushConfiguration? {
    guard let key = webPush["keyFile"] else {
      try rejectAll("push.webPush", without: "keyFile")
      return nil
    }
    if let wrong = WebPushHosts.invalidEntry(in: hosts) {
      throw ToolError(
        "Web Push cannot be used", because: "`\(wrong)` in push.webPush.hosts is not a host",
        next: "write a host, such as push.example.org, or .example.org for every host below it")
    }
    return try await WebPushConfiguration(
      key: Self.content(key, "push.webPush.keyFile"), subject: Self.required("subject", of: webPush, "push.webPush"),
      hosts: WebPushHosts(hosts))
  }

  /// Rejects all settings of a group, which have no effect without its key.
  private func rejectAll(_ group: String, without key: String) throws(ToolError) {
    try reject(given.filter { $0.hasPrefix(group + ".") }.sorted(), without: "\(group).\(key)")
  }

  /// Rejects settings that have no effect without another one, because the operator probably forgot that.
  private func reject(_ settings: [String], without other: String) throws(ToolError) {
    guard let setting = settings.first(where: given.contains) else { return }
    throw ToolError(
      "the setting \(setting) has no effect", because: "there is no \(other)",
      next: "set \(other), or remove \(setting)")
  }

  private static func required(
    _ name: String, of values: [String: String], _ group: String
  ) throws(ToolError) -> String {
    if let value = values[name], !value.isEmpty { return value }
    throw ToolError(
      "the setting \(group).\(name) is missing", because: "the other settings of \(group) need it",
      next: "set \(group).\(name); push-setup.md says where to find it")
  }

  private static func content(_ path: String, _ key: String) throws(ToolError) -> Data {
    if let content = FileManager.default.contents(atPath: path) { return content }
    throw ToolError(
      "the file of \(key) cannot be read", because: "\(path) does not exist or cannot be read",
      next: "correct the path, or the permissions of the file")
  }
}
