import ChatDomain
import ChatPrimitives

extension DecisionState {
  mutating func takeReport(_ recorded: RecordedEvent) {
    guard case .room(let room, .reports(let event)) = recorded.event else { return }
    let stamp = recorded.stamp
    switch event {
    case .filed(let id, let reporter, let report):
      recent.enter(
        KnownReport(
          reporter: reporter, reportedUser: report?.subject.user, filed: stamp,
          fingerprint: report.map { .report($0, by: reporter) }, isOpen: true, revised: stamp),
        for: ReportKey(room: room, report: id))
    case .resolved(let id, let resolution):
      recent.enter(
        ReportRevision(
          stamp: stamp, isOpen: false, resolution: resolution.map { .reportResolution(id, $0) }),
        for: ReportKey(room: room, report: id))
    case .reopened(let id, _):
      recent.enter(
        ReportRevision(stamp: stamp, isOpen: true, resolution: nil), for: ReportKey(room: room, report: id))
    }
  }
}
