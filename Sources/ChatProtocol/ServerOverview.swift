/// `GET /`: what this server is, and the paths where a newcomer continues.
public struct ServerOverview: ResponseObject {
  public var name: String
  public var description: String
  /// The path of the contract, `docs/openapi.yaml`.
  public var contract: String
  /// The path that begins the paths of the API.
  public var api: String
  /// The path that says whether the process responds.
  public var health: String
  /// The path that says whether requests are served.
  public var readiness: String

  public init(
    name: String, description: String, contract: String, api: String, health: String, readiness: String
  ) {
    self.name = name
    self.description = description
    self.contract = contract
    self.api = api
    self.health = health
    self.readiness = readiness
  }
}
