import ChatPrimitives
import Foundation

import struct SystemPackage.FilePath

/// libvips's command-line programs, each run in a process of its own.
struct ImageTools: Sendable {
  /// What is looked for in `PATH`; Debian's packages libvips-tools and util-linux have them.
  private static let names = (header: "vipsheader", thumbnail: "vipsthumbnail", limiter: "prlimit")

  private let header: FilePath
  private let thumbnail: FilePath
  private let process: ConfinedProcess
  private let headerProcess: ConfinedProcess
  let slots = AsyncSemaphore<UserID?>(
    Limits.imageProcesses, ofUser: Limits.imageProcessesOfUser, waitingLimit: Limits.waitingImages)
  /// For the headers of uploads, so that images that take long to decode hold up no upload.
  let headerSlots = AsyncSemaphore<UserID?>(
    Limits.headerProcesses, ofUser: Limits.headerProcessesOfUser, waitingLimit: Limits.waitingImages)

  /// - Parameters:
  ///   - path: directories, separated by colons.
  ///   - headerTime: how long reading a header may take.
  /// - Returns: nil when one of the programs is missing.
  init?(in path: String, headerTime: Duration = .seconds(ConfinedProcess.headerWallSeconds)) {
    func find(_ name: String) -> FilePath? {
      path.split(separator: ":").map { "\($0)/\(name)" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }.map { FilePath($0) }
    }
    guard let header = find(Self.names.header), let thumbnail = find(Self.names.thumbnail),
      let limiter = find(Self.names.limiter)
    else { return nil }
    self.header = header
    self.thumbnail = thumbnail
    process = ConfinedProcess(limiter: limiter)
    headerProcess = ConfinedProcess(
      limiter: limiter, processorTime: ConfinedProcess.headerProcessorSeconds,
      wallTime: headerTime)
  }

  /// Waits for a slot, of which each user has few, and runs the body in it.
  /// - Parameter user: nil for services, which share what one user has.
  func inSlot<T: Sendable>(of user: UserID?, _ body: () async throws -> T) async throws -> T {
    try await Self.orBusy { try await slots.run(for: user, body) }
  }

  /// What the header of a user's upload says; nil when it is no image. Has slots of its own.
  func headerOfUpload(at path: String, of user: UserID?) async throws -> ImageHeader? {
    try await Self.orBusy { try await headerSlots.run(for: user) { try await header(of: path) } }
  }

  private static func orBusy<T: Sendable>(_ body: () async throws -> T) async throws -> T {
    do {
      return try await body()
    } catch is TooManyWaiting {
      throw MediaError.busy
    }
  }

  /// What the image's header says; nil when it is none, or takes too much to read. Call it in a slot.
  func header(of path: String) async throws -> ImageHeader? {
    do {
      let output = try await headerProcess.output(of: header, ["-a", "stdin"], reading: path)
      return output.flatMap { ImageHeader(String(decoding: $0, as: UTF8.self)) }
    } catch is OutputTooLarge {
      return nil
    }
  }

  /// The image made smaller: to fit a box, never made larger, turned as its camera says, in sRGB, without what the camera
  /// wrote into it. Downsampled while it is decoded where the format can. Call it in a slot.
  /// - Parameter profiled: whether the image says what its colours mean. Where it does not they are sRGB already, which
  ///   libvips would convert all the same, and less exactly. A profile of another kind of colours than the image's, as of
  ///   three for one that has grey alone, counts as none.
  /// - Returns: nil when it cannot be decoded within the limits.
  /// - Throws: `OutputTooLarge` when it can, but the thumbnail of this width is too large.
  func thumbnail(
    of path: String, width: Int, profiled: Bool, as format: ThumbnailFormat
  ) async throws -> [UInt8]? {
    let box = "\(width)x\(width * ThumbnailFormat.heightPerWidth)>"
    let arguments = ["stdin", "--size", box, "-o", format.output]
    let attempts = (profiled ? [arguments + ["--export-profile", "srgb"]] : []) + [arguments]
    for attempt in attempts {
      let output = try await process.output(of: thumbnail, attempt, reading: path)
      if let cleaned = output.flatMap({ format.cleaned($0) }) { return cleaned }
    }
    return nil
  }
}

/// What is asked of an image before it is decoded.
struct ImageHeader: Sendable, Hashable {
  let size: ImageSize
  /// Whether it brings a colour profile (ICC).
  let hasProfile: Bool

  /// - Parameter text: as `vipsheader -a` prints it.
  init?(_ text: String) {
    guard let size = ImageSize(header: text) else { return nil }
    self.size = size
    hasProfile = text.split(separator: "\n").contains { $0.hasPrefix("icc-profile-data:") }
  }
}

/// In pixels, as it is to be shown.
package struct ImageSize: Sendable, Hashable {
  package let width: UInt32
  package let height: UInt32

  package init(width: UInt32, height: UInt32) {
    self.width = width
    self.height = height
  }

  /// Reads what `vipsheader -a` prints: a line `name: value` for each field, width and height first. What the image
  /// brings along stands behind them.
  init?(header: String) {
    var fields: [Substring: Substring] = [:]
    for line in header.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2, fields[parts[0]] == nil else { continue }
      fields[parts[0]] = parts[1].drop { $0 == " " }
    }
    guard let width = fields["width"].flatMap({ UInt32($0) }), let height = fields["height"].flatMap({ UInt32($0) }),
      width > 0, height > 0
    else { return nil }
    // EXIF's orientations from 5 to 8 lie on their side (TIFF 6.0, section 8, Orientation).
    let isTurned = fields["orientation"].flatMap { Int($0) }.map { (5...8).contains($0) } ?? false
    self.init(width: isTurned ? height : width, height: isTurned ? width : height)
  }

  package var pixels: UInt64 { UInt64(width) * UInt64(height) }
}
