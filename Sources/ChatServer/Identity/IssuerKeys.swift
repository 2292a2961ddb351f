import ChatPrimitives
import Foundation
import Logging

/// The keys of one issuer, fetched when they are needed and kept while they are fresh. Only one fetch is in flight at a
/// time, however many callers wait for it.
actor IssuerKeys {
  private let location: KeyLocation
  private let fetcher: KeySetFetcher
  private let logger: Logger
  private var freshness = KeySetFreshness()
  private var keys: PublishedKeys?
  private var fetching: Task<Void, Never>?

  init(_ location: KeyLocation, fetcher: KeySetFetcher, logger: Logger) {
    self.location = location
    self.fetcher = fetcher
    self.logger = logger
  }

  /// - Returns: nil if the issuer has no such key.
  /// - Throws: `Refusal.issuerUnavailable` if the issuer's keys cannot be fetched.
  func key(_ id: String?, for algorithm: SignatureAlgorithm, at now: Timestamp) async throws -> PublishedKeys.Key? {
    let found = keys?.key(id, for: algorithm)
    switch freshness.advice(hasKey: found != nil, at: now) {
    case .use:
      return found
    case .wait:
      throw Refusal.issuerUnavailable
    case .fetch:
      await fetch(at: now)
      guard let keys, freshness.advice(hasKey: true, at: now) == .use else { throw Refusal.issuerUnavailable }
      return keys.key(id, for: algorithm)
    }
  }

  private func fetch(at now: Timestamp) async {
    if let fetching { return await fetching.value }
    let task = Task { await fetchOnce(at: now) }
    fetching = task
    await task.value
    fetching = nil
  }

  private func fetchOnce(at now: Timestamp) async {
    do {
      let fetched = try await fetcher.fetch(location)
      keys = try await PublishedKeys(json: fetched.body)
      freshness.noteFetched(at: now, maximumAge: fetched.maximumAge)
    } catch {
      freshness.noteFailed(at: now)
      logger.warning(
        "the keys of an issuer of tokens could not be fetched",
        metadata: ["from": "\(location)", "error": "\(error)"])
    }
  }
}
