/// Sent to a connection when a handler is about to read the body of a request that waits for 100 (Continue) (RFC 9110,
/// section 10.1.1). The `RequestGuard` then sends that status.
struct WillReadBody: Sendable {}
