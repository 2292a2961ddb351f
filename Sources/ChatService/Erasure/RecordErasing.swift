package import ChatDomain
package import ChatPrimitives

/// Removes what deleted users recorded from the log. Proofs and tree heads stay valid.
package protocol RecordErasing: Sendable {
  /// Asks for a user's records to be erased, unless that is done.
  /// - Parameter deletion: where the account was deleted.
  /// - Returns: what was erased, once no file of the log has any of it; nil until then. The eraser asks again.
  func erasedRecords(of user: UserID, deleted deletion: LogPosition) async throws(ServiceError) -> Erasure?

  /// Stops what was asked for, because a legal hold was placed. The eraser asks again for those who are not held.
  func withdrawAll()
}
