/// A read model, and its last rebuild.
package struct ReadModelOverview: Sendable, Hashable {
  package let status: ProjectionStatus
  package let schemaVersion: Int
  /// The last rebuild since the server was started; nil if there was none.
  package let rebuild: ViewRebuildStatus?
}

/// Rebuilds beside the running server.
extension ReadModels {
  package var overviews: [ReadModelOverview] {
    all.map { ReadModelOverview(status: $0.status, schemaVersion: $0.schemaVersion, rebuild: $0.rebuildStatus) }
  }

  /// Does nothing while a rebuild of it is running.
  /// - Throws: `ProjectionBehind` if it has no file that can be read.
  package func startRebuild(of name: String) throws(ProjectionBehind) {
    for follower in all where follower.name == name { try follower.startRebuild() }
  }

  /// Does nothing if no rebuild of it is running.
  package func cancelRebuild(of name: String) {
    for follower in all where follower.name == name { follower.cancelRebuild() }
  }
}
