import ChatPrimitives
import EventLog

extension EmbeddedLog {
  /// Opens the log of a stopped server. A mistyped directory gives an error instead of a new log.
  static func ofStoppedServer(_ data: DataOption) throws -> EmbeddedLog {
    _ = try data.openLog()
    return try open(directory: data.directory, options: LogOptions(preparesAhead: false, sealsInBackground: false))
  }

  /// Ends the active segment, seals all segments, and shows the progress.
  /// - Returns: the number of segments that were sealed.
  func sealAll() throws -> UInt64 {
    try roll()
    let bar = ProgressBar("sealing", total: UInt64(try segmentsToSeal()), unit: .items("segments"))
    defer { bar.finish() }
    var sealed: UInt64 = 0
    bar.update(sealed)
    while try sealNext() {
      sealed += 1
      bar.update(sealed)
    }
    return sealed
  }
}
