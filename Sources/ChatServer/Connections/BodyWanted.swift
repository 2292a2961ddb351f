/// Told to a connection when a request's body is about to be read: a client that waits to be asked for it (RFC 9110,
/// 10.1.1) is asked by the `RequestGuard`.
struct BodyWanted: Sendable {}
