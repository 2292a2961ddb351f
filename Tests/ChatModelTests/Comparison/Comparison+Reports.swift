import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventLogSimulation

extension Comparison {
  /// Compares the lists of a room's reports and each of its reports, as a user sees them.
  mutating func compareReports(_ id: RoomID, for user: UserID) async throws {
    let what = "reports of r\(id.short) for u\(user.short)"
    for isOpen in [true, false] {
      var expected: QueryResult<[SeenReport]> = .refused("room_not_found")
      if let room = model.rooms[id], let moderates = model.moderates(room, user) {
        let shown = room.reports.filter { ($0.end == nil) == isOpen && $0.report.subject.user != user }
        expected = moderates ? .found(shown.reversed().map { SeenReport($0) }) : .refused("forbidden")
      }
      let limit = random.within(1...4)
      let found = try await reports { cursor async throws(ServiceError) in
        try await chat.reports(of: id, for: user, isOpen: isOpen, before: cursor, limit: limit)
      }
      try expect("\(isOpen ? "open" : "resolved") \(what), \(limit) at a time", expected, found)
    }
    for report in (model.rooms[id]?.reports ?? []).suffix(2) {
      let found = try await result { () async throws(ServiceError) in
        SeenReport(try await chat.report(report.id, of: id, for: user).row)
      }
      try expect("p\(report.id.short) among \(what)", expected(report, in: id, for: user), found)
    }
  }

  private func expected(_ report: ModelReport, in id: RoomID, for user: UserID) -> QueryResult<SeenReport> {
    guard let room = model.rooms[id], room.exists else { return .refused("room_not_found") }
    let moderates = model.moderates(room, user)
    if moderates != true, report.reporter != user {
      return .refused(moderates == nil ? "room_not_found" : "report_not_found")
    }
    return report.report.subject.user == user ? .refused("report_not_found") : .found(SeenReport(report))
  }

  /// Compares the reports of all rooms, including deleted ones, and of each workspace, as a service sees them.
  mutating func compareAllReports() async throws {
    func sorted(_ rooms: some Sequence<ModelRoom>, isOpen: Bool) -> [SeenReport] {
      rooms.flatMap(\.reports).filter { ($0.end == nil) == isOpen }
        .sorted { $0.filed.position > $1.filed.position }.map { SeenReport($0) }
    }
    for isOpen in [true, false] {
      let limit = random.within(1...20)
      let found = try await reports { cursor async throws(ServiceError) in
        try await chat.reports(isOpen: isOpen, before: cursor, limit: limit)
      }
      try expect(
        "all \(isOpen ? "open" : "resolved") reports", .found(sorted(model.rooms.values, isOpen: isOpen)), found)
      for workspace in model.workspaces.values where workspace.exists {
        let found = try await reports { cursor async throws(ServiceError) in
          try await chat.reports(of: workspace.id, for: nil, isOpen: isOpen, before: cursor, limit: limit)
        }
        try expect(
          "reports of w\(workspace.id.short)",
          .found(sorted(model.channels(of: workspace.id), isOpen: isOpen)), found)
      }
    }
  }

  /// All pages of a list.
  private func reports(
    _ page: (LogPosition?) async throws(ServiceError) -> ReportPage
  ) async throws -> QueryResult<[SeenReport]> {
    var (found, cursor): ([SeenReport], LogPosition?) = ([], nil)
    repeat {
      let before = cursor
      switch try await result({ () async throws(ServiceError) in try await page(before) }) {
      case .refused(let reason): return .refused(reason)
      case .found(let page):
        found += page.reports.map { SeenReport($0) }
        try expectProfiles(page.profiles, of: page.reports.flatMap(\.users))
        cursor = page.next
      }
    } while cursor != nil && found.count < 10_000
    return .found(found)
  }
}

private struct SeenReport: Equatable {
  let id: ReportID
  let reporter: UserID
  let report: Report?
  let filed: Stamp
  let revised: Stamp
  let end: ModelReport.End?
  let resolver: UserID?

  init(_ report: ModelReport) {
    id = report.id
    reporter = report.reporter
    self.report = report.report
    filed = report.filed
    revised = report.revised
    end = report.end
    resolver = report.resolver
  }

  init(_ row: ReportRow) {
    id = row.id
    reporter = row.reporter
    report = row.report
    filed = row.filed
    revised = row.revised
    resolver = row.resolution?.resolver
    end =
      switch row.resolution?.end {
      case .resolved(let resolution)?: .resolved(resolution)
      case .roomDeleted?: .roomDeleted
      case .erased?, nil: nil
      }
  }
}
