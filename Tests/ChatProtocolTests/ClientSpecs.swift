import ChatPrimitives
import ChatProtocol
import Testing

@Suite("what a client package needs of the contract")
struct ClientSpecs {
  private struct Client {
    let respond: (_ endpoint: String, _ body: String) -> String

    func call<Request: RequestObject, Response: ResponseObject>(
      _ endpoint: Endpoint<Request, Response>, _ request: Request
    ) throws -> Response {
      let body = String(decoding: try JSONWriter.bytes(of: request), as: UTF8.self)
      return try JSONDocument(Array(respond(endpoint.erased.description, body).utf8)).decode(Response.self)
    }
  }

  @Test("an endpoint is called with its request, and gives its response")
  func call() throws {
    let client = Client { endpoint, body in
      #expect(endpoint == "PATCH /v1/me/preferences")
      #expect(body == #"{"sharesReadMarkers":false}"#)
      return
        #"{"sharesReadMarkers":false,"acceptsDirectMessages":true,"sharesPresence":true,"notifications":"all","#
        + #""mutedKinds":["reaction"],"quietHours":null,"showsPreviews":true,"directRooms":"known","#
        + #""groupAdditions":"everyone","position":7}"#
    }
    let receipt = try client.call(Endpoints.updatePreferences, UpdatePreferencesRequest(sharesReadMarkers: false))
    #expect(
      receipt
        == PreferencesReceipt(
          Preferences(
            sharesReadMarkers: false, acceptsDirectMessages: true, sharesPresence: true, notifications: "all",
            mutedKinds: ["reaction"], quietHours: nil, showsPreviews: true, directRooms: "known",
            groupAdditions: "everyone"), position: LogPosition(7)))
  }
}
