/// Remembers when something last had to wait for a read model: a request or a live stream. A stop and damage count too.
struct LastReader {
  /// How long a reader counts as recent, in milliseconds.
  static let rememberedMilliseconds = 2_000

  private var waited: ContinuousClock.Instant?

  mutating func note(at now: ContinuousClock.Instant) { waited = now }

  func isRecent(at now: ContinuousClock.Instant) -> Bool {
    waited.map { now - $0 < .milliseconds(Self.rememberedMilliseconds) } ?? false
  }
}
