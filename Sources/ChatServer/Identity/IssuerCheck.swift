/// Checks whether tokens of an issuer can be verified, without a token.
package struct IssuerCheck: Sendable {
  private let fetcher: KeySetFetcher

  package init(_ fetcher: KeySetFetcher) { self.fetcher = fetcher }

  /// The problem with the issuer's keys, and what to do; nil if there is none.
  package func problem(of issuer: TrustedIssuer) async -> (reason: String, next: String)? {
    let keys: PublishedKeys
    do {
      keys = try await PublishedKeys(json: try await fetcher.fetch(issuer.keys).body)
    } catch {
      return (
        "its keys cannot be read from \(issuer.keys.text): \(Self.text(error))",
        "check the address and the network; logins with its tokens get issuer_unavailable"
      )
    }
    let usable = keys.keys.filter { issuer.algorithms.contains($0.algorithm) }
    guard usable.isEmpty else { return nil }
    let names = issuer.algorithms.map(\.rawValue).sorted().joined(separator: ", ")
    return ("\(issuer.keys.text) has no key for \(names)", "check jwks and algorithms in its settings")
  }

  private static func text(_ error: any Error) -> String {
    switch error {
    case KeySetError.status(let status): "it responds with status \(status)"
    case KeySetError.unreadable(let reason): reason
    case KeySetError.notRegularFile: "it is not a regular file"
    case KeySetError.tooLarge: "it has more than \(KeySetFetcher.setBytes) bytes"
    case KeySetError.tooSlow: "it did not respond in time"
    case is DecodingError: "it is not a JWK set"
    default: "\(error)"
    }
  }
}

extension KeyLocation {
  fileprivate var text: String {
    switch self {
    case .url(let url): url
    case .file(let path): path
    }
  }
}
