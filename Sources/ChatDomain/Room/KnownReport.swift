package import ChatPrimitives

/// What a decision needs to know about one report. It is read from the rooms read model, and the writer applies newer
/// changes to it.
package struct KnownReport: Hashable, Sendable {
  package var reporter: UserID
  /// Nil if the report was erased.
  package var reportedUser: UserID?
  package var filed: Stamp
  /// The fingerprint of what the reporter sent. Nil if the report was erased; then no retry is recognised.
  package var fingerprint: Fingerprint?
  package var isOpen: Bool
  /// The fingerprint of the resolution. Nil if the report is open or the resolution was erased.
  package var resolution: Fingerprint?
  /// Where and when the report was last filed, resolved or reopened.
  package var revised: Stamp

  package init(
    reporter: UserID, reportedUser: UserID?, filed: Stamp, fingerprint: Fingerprint?, isOpen: Bool,
    resolution: Fingerprint? = nil, revised: Stamp
  ) {
    self.reporter = reporter
    self.reportedUser = reportedUser
    self.filed = filed
    self.fingerprint = fingerprint
    self.isOpen = isOpen
    self.resolution = resolution
    self.revised = revised
  }

  /// Whether the report does not exist for this user.
  func isHidden(from user: UserID) -> Bool {
    Self.isHidden(from: user, reporter: reporter, reportedUser: reportedUser)
  }

  /// Whether a report does not exist for this user, because it is about them. An erased report does not say whom it is
  /// about, so it exists only for services and for its reporter.
  package static func isHidden(from user: UserID, reporter: UserID, reportedUser: UserID?) -> Bool {
    reportedUser.map { $0 == user } ?? (reporter != user)
  }
}
