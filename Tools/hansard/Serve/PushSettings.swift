import ArgumentParser
import ChatPush
import Configuration
import Foundation

/// The `push.` settings that have command line options. The settings of the providers are in `ProviderOptions`.
struct PushOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Post each notification to this URL.", valueName: "url"))
  var pushWebhook: String?

  @Option(help: ArgumentHelp("The file with the secret that signs the requests.", valueName: "file"))
  var pushSecretFile: String?

  @Option(help: ArgumentHelp("Append each notification to this file, as one line of JSON.", valueName: "file"))
  var pushFile: String?

  @OptionGroup
  var providers: ProviderOptions

  var values: [String: ConfigContent?] {
    [
      PushSettings.webhookKey: pushWebhook.map { .string($0) },
      PushSettings.secretFileKey: pushSecretFile.map { .string($0) },
      PushSettings.fileKey: pushFile.map { .string($0) },
    ].merging(providers.values) { first, _ in first }
  }
}

/// Where notifications go, and the threads that send them.
struct PushDestination: Sendable {
  var sender: any PushNotificationSender
  let threads: PushThreads
}

/// Where notifications are sent. Without any of these settings, push is off and no recipients are computed.
struct PushSettings: Sendable {
  static let webhookKey = "push.webhook"
  static let secretFileKey = "push.secretFile"
  static let fileKey = "push.file"

  let webhook: String?
  let secretFile: String?
  let file: String?
  let providers: ProviderSettings

  init(_ reader: inout SettingReader) {
    webhook = reader.text(
      Self.webhookKey, option: "--push-webhook",
      "the `http` or `https` URL to which each notification is posted, signed; see `push.md`"
    )
    secretFile = reader.text(
      Self.secretFileKey, option: "--push-secret-file", "the file with the secret that signs the requests")
    file = reader.text(Self.fileKey, option: "--push-file", "the file to which each notification is appended instead")
    providers = ProviderSettings(&reader)
  }

  /// The files with secrets that the settings name.
  var secretFiles: [String] { [secretFile].compactMap { $0 } + providers.secretFiles }

  /// Does what `start` does, except that it starts and opens nothing.
  /// - Returns: whether push is on.
  func check() async throws -> Bool {
    if let file {
      let directory = (file as NSString).deletingLastPathComponent
      if access(directory.isEmpty ? "." : directory, W_OK) != 0 {
        throw ToolError("the push file cannot be used", because: "\(file): \(SystemError.text(errno))")
      }
      return true
    }
    guard let destination = try await start() else { return false }
    await destination.sender.close()
    return true
  }

  /// Starts the threads that send notifications, and creates the sender. Nil if push is off.
  func start() async throws -> PushDestination? {
    let configuration = try await providers.configuration()
    if webhook == nil, file == nil, let secretFile {
      throw ToolError(
        "there is a push secret, but no webhook", because: "--push-secret-file is \(secretFile)",
        next: "name the webhook with --push-webhook URL")
    }
    if webhook == nil, file == nil, configuration.isEmpty { return nil }
    let threads = PushThreads()
    return PushDestination(sender: try sender(configuration, threads), threads: threads)
  }

  private func sender(
    _ configuration: PushProviders.Configuration, _ threads: PushThreads
  ) throws -> any PushNotificationSender {
    switch (webhook, file) {
    case (nil, nil): return PushProviders(configuration, threads)
    case (_?, _?):
      throw ToolError(
        "notifications can have only one destination", because: "both a push webhook and a push file are given",
        next: "omit --push-webhook or --push-file")
    case (let webhook?, nil):
      try rejectProviders(configuration, besides: "push.webhook")
      return try self.webhook(webhook, secretFile, threads)
    case (nil, let file?):
      try rejectProviders(configuration, besides: "push.file")
      return try self.file(file)
    }
  }

  private func rejectProviders(_ configuration: PushProviders.Configuration, besides key: String) throws {
    guard !configuration.isEmpty else { return }
    throw ToolError(
      "notifications can have only one destination",
      because: "\(key) takes all of them, but settings of push.apns, push.fcm or push.webPush are given too",
      next: "remove \(key), or the settings of the providers")
  }

  private func webhook(
    _ url: String, _ secretFile: String?, _ threads: PushThreads
  ) throws -> any PushNotificationSender {
    guard let secretFile else {
      throw ToolError(
        "the push webhook has no secret", because: "without a secret, the receiver cannot verify the sender",
        next: "write a random secret into a file and name it with --push-secret-file FILE")
    }
    do {
      return try WebhookSender(url: url, secret: Self.secret(in: secretFile), threads)
    } catch let error as WebhookError {
      throw ToolError("the push webhook cannot be used", because: error.description)
    }
  }

  /// The bytes of the file, without the line ending that editors add.
  private static func secret(in path: String) throws -> [UInt8] {
    guard let content = FileManager.default.contents(atPath: path) else {
      throw ToolError("the push secret cannot be read", because: "the file \(path) does not exist or cannot be read")
    }
    var secret = Array(content)
    while let last = secret.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { secret.removeLast() }
    return secret
  }

  private func file(_ path: String) throws -> any PushNotificationSender {
    do {
      return try FileSender(path: path)
    } catch {
      throw ToolError("the push file cannot be used", because: error.description)
    }
  }
}
