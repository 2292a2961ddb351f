private import Glibc

/// The parsers to fuzz. The environment variable `HANSARD_FUZZ_TARGET` selects one by its raw value.
enum FuzzTarget: String, CaseIterable {
  /// A block header and a superblock.
  case header
  /// The envelope of a record.
  case envelope
  /// The body of a block of rows.
  case rows
  /// The body of a block of columns.
  case columns
  /// The header and the sections of a sealed segment.
  case footer
  /// Signed notes, checkpoints, keys and proofs.
  case notes
  /// Frames of a WebSocket.
  case frames
  /// Payloads of Engine.IO, and requests of a session.
  case engine
  /// Packets of Socket.IO, and a session.
  case socket
  /// Cursors of the sync.
  case cursors
  /// Forms of uploads.
  case forms

  /// The maximum length of an input, in bytes. `Tools/fuzz` passes it to libFuzzer.
  var maximumInputBytes: Int {
    switch self {
    case .header: 128
    case .envelope: 160
    case .rows, .columns, .notes: 8 * 1024
    case .frames, .engine, .socket, .forms: 2 * 1024
    case .cursors: 192
    case .footer: 12 * 1024
    }
  }

  /// Tries one input. Ends the process if a property does not hold that must hold for every input.
  func run(_ input: [UInt8]) {
    switch self {
    case .header: fuzzHeader(input)
    case .envelope: fuzzEnvelope(input)
    case .rows: fuzzRows(input)
    case .columns: fuzzColumns(input)
    case .footer: fuzzFooter(input)
    case .notes: fuzzNotes(input)
    case .frames: fuzzFrames(input)
    case .engine: fuzzEnginePackets(input)
    case .socket: fuzzSocketPackets(input)
    case .cursors: fuzzCursors(input)
    case .forms: fuzzForms(input)
    }
  }

  /// The target that the environment selects.
  static let chosen: FuzzTarget = {
    guard let name = environment("HANSARD_FUZZ_TARGET") else { fatalError("HANSARD_FUZZ_TARGET names no target") }
    guard let target = FuzzTarget(rawValue: name) else {
      fatalError("unknown target \(name); known ones: \(allCases.map(\.rawValue).joined(separator: " "))")
    }
    return target
  }()

  fileprivate static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

/// Checks a property of every input. A violation ends the process, so that libFuzzer keeps the input.
func demand(_ condition: Bool, _ claim: String) {
  guard condition else { fatalError("does not hold: \(claim)") }
}

/// libFuzzer calls this once, before anything else. It also implements the other two uses of the program.
@_cdecl("LLVMFuzzerInitialize")
public func initializeFuzzing(
  _ count: UnsafeMutablePointer<CInt>?,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>?
) -> CInt {
  if FuzzTarget.environment("HANSARD_FUZZ_LIST") != nil {
    for target in FuzzTarget.allCases { print(target.rawValue, target.maximumInputBytes) }
    exit(0)
  }
  if let directory = FuzzTarget.environment("HANSARD_FUZZ_SEEDS") {
    do {
      try Seeds(directory: directory).write()
      exit(0)
    } catch {
      print("the seeds were not written: \(error)")
      exit(1)
    }
  }
  return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  FuzzTarget.chosen.run([UInt8](UnsafeBufferPointer(start: start, count: start == nil ? 0 : count)))
  return 0
}
