import ChatProtocol

/// Tells a person or a tool that has only the address of the server what it is and where to go.
struct OverviewHandler: Sendable {
  private static let overview = ServerOverview(
    name: "Hansard",
    description: """
      An event-sourced chat backend. This is its HTTP API. The contract describes every path, and clients can be \
      generated from it. POST /v1/accounts registers a user.
      """,
    contract: Endpoints.openAPIDocument.path, api: "/v1", health: Endpoints.health.path,
    readiness: Endpoints.readiness.path)

  func overview(_ context: HansardRequestContext) throws -> TypedResponse<ServerOverview> {
    try JSONBody.response(Self.overview)
  }
}
