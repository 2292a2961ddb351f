/// All projections of the read models. To add one, create a folder for it and add a line here.
package enum Projections {
  package static let all: [any Projection.Type] = [
    AccountsProjection.self,
    RoomsProjection.self,
    TimelineProjection.self,
    IDIndexProjection.self,
    MediaProjection.self,
    UsageProjection.self,
    SearchProjection.self,
  ]

  /// Those from which the deciders' state is restored at the start.
  package static let ofDecisions: [any Projection.Type] = [
    AccountsProjection.self,
    RoomsProjection.self,
    TimelineProjection.self,
    IDIndexProjection.self,
    UsageProjection.self,
  ]

  /// - Throws: a `ProjectionError` that lists the known names.
  package static func named(_ name: String) throws(ProjectionError) -> any Projection.Type {
    if let projection = all.first(where: { $0.name == name }) { return projection }
    let names = all.map { $0.name }.joined(separator: ", ")
    throw ProjectionError(.unknownProjection, "unknown projection \(name); known ones: \(names)")
  }
}
