import ChatPrimitives
import Foundation

import struct SystemPackage.FilePath

/// The command-line programs of libvips, each run in a process of its own.
struct ImageTools: Sendable {
  /// The programs to look for in `PATH`. They are in Debian's packages libvips-tools and util-linux.
  private static let names = (header: "vipsheader", thumbnail: "vipsthumbnail", limiter: "prlimit")

  private let header: FilePath
  private let thumbnail: FilePath
  private let process: ConfinedProcess
  private let headerProcess: ConfinedProcess
  let slots = AsyncSemaphore<UserID?>(
    Limits.imageProcesses, ofUser: Limits.imageProcessesOfUser, waitingLimit: Limits.waitingImages)
  /// Slots for reading the headers of uploads, so that images that take long to decode do not delay uploads.
  let headerSlots = AsyncSemaphore<UserID?>(
    Limits.headerProcesses, ofUser: Limits.headerProcessesOfUser, waitingLimit: Limits.waitingImages)

  /// - Parameters:
  ///   - path: directories, separated by colons.
  ///   - headerTime: the limit on elapsed time for reading a header.
  ///   - thumbnailTime: the same for making a thumbnail.
  /// - Returns: nil if one of the programs is missing.
  init?(in path: String, headerTime: Duration, thumbnailTime: Duration) {
    func find(_ name: String) -> FilePath? {
      path.split(separator: ":").map { "\($0)/\(name)" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }.map { FilePath($0) }
    }
    guard let header = find(Self.names.header), let thumbnail = find(Self.names.thumbnail),
      let limiter = find(Self.names.limiter)
    else { return nil }
    self.header = header
    self.thumbnail = thumbnail
    process = ConfinedProcess(limiter: limiter, wallTime: thumbnailTime)
    headerProcess = ConfinedProcess(
      limiter: limiter, processorTime: ConfinedProcess.headerProcessorSeconds,
      wallTime: headerTime)
  }

  /// Waits for a slot and runs the body in it. Each user has only a few slots.
  /// - Parameter user: nil for services, which together have as many slots as one user.
  func inSlot<T: Sendable>(of user: UserID?, _ body: () async throws -> T) async throws -> T {
    try await Self.throwingBusy { try await slots.run(for: user, body) }
  }

  /// Reads the image header of a user's upload; nil if it is not an image. Uses separate slots.
  func headerOfUpload(at path: String, of user: UserID?) async throws -> ImageHeader? {
    try await Self.throwingBusy { try await headerSlots.run(for: user) { try await header(of: path) } }
  }

  private static func throwingBusy<T: Sendable>(_ body: () async throws -> T) async throws -> T {
    do {
      return try await body()
    } catch is TooManyWaiting {
      throw MediaError.busy
    }
  }

  /// Reads an image's header; nil if the file is not an image or takes too many resources to read. Call it in a slot.
  func header(of path: String) async throws -> ImageHeader? {
    do {
      let output = try await headerProcess.output(of: header, ["-a", "stdin"], reading: path)
      return output.flatMap { ImageHeader(String(decoding: $0, as: UTF8.self)) }
    } catch is OutputTooLarge {
      return nil
    }
  }

  /// Makes a thumbnail: scales the image down to fit a box, but never up, rotates it as its orientation says, converts
  /// it to sRGB and removes the camera's metadata. Formats that support it are downsampled during decoding. Call it in
  /// a slot.
  /// - Parameter profiled: whether the image has a colour profile. Without one the colours are sRGB already; libvips
  ///   would convert them anyway, and lose precision. A profile that does not fit the image, such as one for three
  ///   channels in a greyscale image, is ignored.
  /// - Returns: nil if the image cannot be decoded within the limits.
  /// - Throws: `OutputTooLarge` if the image can be decoded, but the thumbnail of this width is too large.
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

/// The properties of an image that are checked before it is decoded.
struct ImageHeader: Sendable, Hashable {
  let size: ImageSize
  /// Whether the image has a colour profile (ICC).
  let hasProfile: Bool

  /// - Parameter text: the output of `vipsheader -a`.
  init?(_ text: String) {
    guard let size = ImageSize(header: text) else { return nil }
    self.size = size
    hasProfile = text.split(separator: "\n").contains { $0.hasPrefix("icc-profile-data:") }
  }
}

/// The size of an image as displayed, in pixels.
package struct ImageSize: Sendable, Hashable {
  package let width: UInt32
  package let height: UInt32

  package init(width: UInt32, height: UInt32) {
    self.width = width
    self.height = height
  }

  /// Parses the output of `vipsheader -a`: a line `name: value` for each field, width and height first. Fields that
  /// come from the image's own metadata follow after them, so only the first line with a name counts.
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
    // EXIF orientations 5 to 8 are rotated by a quarter turn (TIFF 6.0, section 8, Orientation).
    let isRotated = fields["orientation"].flatMap { Int($0) }.map { (5...8).contains($0) } ?? false
    self.init(width: isRotated ? height : width, height: isRotated ? width : height)
  }

  package var pixels: UInt64 { UInt64(width) * UInt64(height) }
}
