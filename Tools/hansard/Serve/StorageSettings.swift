import ChatService

/// What the server does when its disks become full or its event log fails.
struct StorageSettings: Sendable {
  private static let mebibyte: UInt64 = 1024 * 1024
  /// 1 TiB.
  private static let mostMebibytes = 1024 * 1024
  /// A day.
  private static let longestSeconds = 86_400

  /// Less free space than this is reported as low.
  let lowBytes: UInt64
  /// How long the server serves reads after its event log has failed, in seconds; nil if it does not end by itself.
  let exitAfterFailureSeconds: Int?

  init(_ reader: inout SettingReader) {
    let mebibytes = reader.integer(
      "storage.lowMebibytes", default: Int(StorageSpace.defaultLowBytes / Self.mebibyte), in: 0...Self.mostMebibytes,
      "MiB of free disk space below which `/readyz` and the server's log say that space is low")
    lowBytes = UInt64(mebibytes) * Self.mebibyte
    let seconds = reader.integer(
      "storage.exitAfterFailure", default: 0, in: 0...Self.longestSeconds,
      "seconds after a failure of the event log after which the server ends, so that a supervisor restarts it; until then, and while the disk is full, reads continue; 0 means never"
    )
    exitAfterFailureSeconds = seconds == 0 ? nil : seconds
  }
}
