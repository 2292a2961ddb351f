import Foundation

/// A rebuild beside the running server gives the next generation of a file, because SQLite's companions have the name of
/// their file: it could not be renamed over one that is open.
extension ProjectionFile {
  /// The live file of a projection in the folder of the read models: the one with the highest generation. Only a
  /// complete file has such a name.
  package init(_ projection: any Projection.Type, in directory: String) {
    self.init(projection, generation: Self.newest(of: projection, in: directory), in: directory)
  }

  /// `rooms-v10.sqlite` is the first generation, `rooms-v10-2.sqlite` the second.
  private init(_ projection: any Projection.Type, generation: Int, in directory: String) {
    let number = generation == 1 ? "" : "-\(generation)"
    self.init(path: "\(directory)/\(Self.prefix(projection))\(number)\(Self.suffix)")
  }

  /// The file that a rebuild gives, after the newest one.
  static func next(of projection: any Projection.Type, in directory: String) -> ProjectionFile {
    ProjectionFile(projection, generation: newest(of: projection, in: directory) + 1, in: directory)
  }

  /// Removes what a crash during a rebuild left: unfinished files, and older generations. Only for the process that owns
  /// the directory. What cannot be removed stays.
  static func removeLeftovers(of projection: any Projection.Type, in directory: String) {
    for name in names(in: directory)
    where name.hasPrefix("\(projection.name)-v") && name.hasSuffix("\(suffix).\(ProjectionRebuild.purpose)") {
      try? ProjectionFile(path: "\(directory)/\(name)").remove()
    }
    let all = generations(of: projection, in: directory)
    for generation in all where generation < all.max() ?? 1 {
      try? ProjectionFile(projection, generation: generation, in: directory).remove()
    }
  }

  private static let suffix = ".sqlite"

  private static func prefix(_ projection: any Projection.Type) -> String {
    "\(projection.name)-v\(projection.schemaVersion)"
  }

  private static func newest(of projection: any Projection.Type, in directory: String) -> Int {
    generations(of: projection, in: directory).max() ?? 1
  }

  private static func generations(of projection: any Projection.Type, in directory: String) -> [Int] {
    names(in: directory).compactMap { name in
      guard name.hasPrefix(prefix(projection)), name.hasSuffix(suffix) else { return nil }
      let number = name.dropFirst(prefix(projection).count).dropLast(suffix.count)
      if number.isEmpty { return 1 }
      guard number.first == "-", let generation = Int(number.dropFirst()), generation > 1 else { return nil }
      return generation
    }
  }

  private static func names(in directory: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
  }
}
