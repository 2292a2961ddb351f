package import ChatDomain
package import ChatPrimitives

/// Who opens a stream, and until when. A stream ends with its permission.
package struct LivePermission: Sendable, Hashable {
  package var user: UserID
  /// The session of the access token; nil for a token without one.
  package var session: SessionID?
  /// The device of the session, if it has one.
  package var device: DeviceID?
  /// When the access token expires; nil if it does not.
  package var expiresAt: Timestamp?

  package init(user: UserID, session: SessionID? = nil, device: DeviceID? = nil, expiresAt: Timestamp? = nil) {
    self.user = user
    self.session = session
    self.device = device
    self.expiresAt = expiresAt
  }
}

/// What a subscription tells its stream.
package enum LiveSignal: Sendable, Hashable {
  /// Something up to this position may concern the user. The read models have applied it.
  case changed(through: LogPosition)
  /// The same, with everything that concerns the user.
  case supplied([LivePage])
  /// Who types and who is online. Only for streams that show it.
  case notices([LiveNotice])
  /// The access token expires at this time, unless it is renewed.
  case expiring(at: Timestamp)
  /// Nothing happened for `Limits.streamHeartbeatSeconds`. The stream should send something, so that nothing between
  /// server and client closes the connection as idle.
  case heartbeat
  case ended(StreamEnding)
}

/// Why a stream ended.
package enum StreamEnding: Sendable, Hashable {
  /// The session was ended: by a logout, a new password or an administrator.
  case sessionEnded
  case accountDisabled
  case accessTokenExpired
  /// The server is being stopped. The client should wait this long before it resumes.
  case shuttingDown(resumeAfterMilliseconds: Int)
  /// The client did not take what was sent.
  case tooSlow
  /// A failure of the server. The stream can be resumed.
  case failed

  /// Each stream gets another delay, so that the clients do not resume at the same time.
  static func stopping() -> StreamEnding {
    .shuttingDown(resumeAfterMilliseconds: .random(in: 0...Limits.streamResumeMilliseconds))
  }
}

/// Why a stream was not opened.
package enum StreamRefusal: Error, Sendable, Hashable {
  /// The user has `Limits.streamsOfUser` open streams.
  case tooManyOfUser
  /// The device has `Limits.streamsOfDevice` open streams.
  case tooManyOfDevice
  /// The permission has ended, or the server is being stopped.
  case ended(StreamEnding)
}
