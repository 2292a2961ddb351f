import ChatPush
import ChatServer
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// Checks what a server needs besides its data: its address, certificate, open files, issuers of tokens and push providers.
struct ServiceChecks {
  /// A certificate that is valid for less than this is reported, in seconds: two weeks.
  private static let certificateSeconds = 14 * 24 * 60 * 60
  /// Bits of the mode of a file that the operator made. Its group may be able to read it.
  private static let everyoneBits: mode_t = 0o007

  let settings: ServeSettings
  /// Whether a server uses the data directory.
  let isInUse: Bool

  func run() async -> [Finding] {
    var findings: [Finding] = []
    if !isInUse { findings.append(await address()) }
    findings += certificate()
    findings.append(openFiles())
    findings += await issuers()
    findings += await push()
    return findings
  }

  // MARK: - The machine

  /// Listens for a moment. A running server would be in the way.
  private func address() async -> Finding {
    do {
      try await HansardServer.checkAddress(host: settings.listen.host, port: settings.listen.port)
      return .ok("address", "\(settings.listen) is free")
    } catch {
      return .problem("address", error)
    }
  }

  private func certificate() -> [Finding] {
    guard let tls = settings.protection.tls else { return [] }
    var problems = PrivateFileCheck(path: tls.keyFile, forbids: Self.everyoneBits).problems("tls")
    do {
      _ = try tls.load()
      let chain = try NIOSSLCertificate.fromPEMFile(tls.certificateFile)
      let left = chain.map { Int($0.notValidAfter) }.min().map { $0 - Int(Date().timeIntervalSince1970) } ?? 0
      if left < Self.certificateSeconds {
        let when = left < 0 ? "has expired" : "expires in \(left / (24 * 60 * 60)) days"
        problems.append(
          .problem(
            "tls", "the certificate in \(tls.certificateFile) \(when)", next: "renew it, then restart the server"))
      }
    } catch {
      problems.append(
        .problem("tls", "TLS cannot be used: \(error)", next: "correct tls.certificateFile and tls.keyFile"))
    }
    return Finding.all(problems, or: .ok("tls", "the certificate and its key can be used"))
  }

  private func openFiles() -> Finding {
    let configured = settings.protection.connections.maximum
    let limit = OpenFiles.raiseLimit()
    let shares = OpenFiles.shares(connections: configured, limit: limit)
    guard shares.connections < configured else {
      return .ok("files", "\(limit) files can be open, enough for \(configured) connections")
    }
    return .problem(
      "files", "only \(limit) files can be open, which allows \(shares.connections) of \(configured) connections",
      next: "raise ulimit -n, or LimitNOFILE= of systemd, or lower connections.maximum")
  }

  // MARK: - Other services

  private func issuers() async -> [Finding] {
    let identity = settings.identity.identity
    let all = identity.providers + [identity.external].compactMap { $0 }
    guard !all.isEmpty else { return [] }
    let fetcher = KeySetFetcher()
    let check = IssuerCheck(fetcher)
    var findings: [Finding] = []
    for issuer in all {
      if let problem = await check.problem(of: issuer) {
        findings.append(.problem("issuer", "\(issuer.issuer): \(problem.reason)", next: problem.next))
      } else {
        findings.append(.ok("issuer", "\(issuer.issuer) publishes keys that can be used"))
      }
    }
    await fetcher.close()
    return findings
  }

  private func push() async -> [Finding] {
    let configuration: PushProviders.Configuration
    do {
      guard try await settings.push.check() else { return [.ok("push", "it is off")] }
      configuration = try await settings.push.providers.configuration()
    } catch {
      return [.problem("push", error)]
    }
    var findings = settings.push.secretFiles.flatMap {
      PrivateFileCheck(path: $0, forbids: Self.everyoneBits).problems("push")
    }
    let providers = PushProviders(configuration, PushThreads())
    for check in await providers.check(configuration) {
      let name = check.provider.name
      if let problem = check.problem {
        findings.append(.problem("push", "\(name) cannot be used", next: problem))
      } else {
        findings.append(.ok("push", "\(name) accepts the credentials"))
      }
    }
    await providers.close()
    return Finding.all(findings, or: .ok("push", "its settings can be used"))
  }
}
