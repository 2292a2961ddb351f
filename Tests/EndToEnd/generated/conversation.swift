// A conversation through the client that openapi-generator makes from docs/openapi.yaml. test_generated_clients.py
// compiles it together with the client, runs it with the address of a server, and checks what it prints.

import Foundation

@main
struct Conversation {
  static let messages = 35
  static let pageSize = 30

  static func main() async throws {
    let configuration = HansardClientAPIConfiguration(basePath: CommandLine.arguments[1])
    let email = "\(UUID())@example.org"
    let password = "red kettle on the hob"
    let account = try await AccountsAndSessionsAPI.createAccount(
      createAccountRequest: CreateAccountRequest(id: UUID(), nickname: "Anna", email: email, password: password),
      apiConfiguration: configuration)
    let tokens = try await AccountsAndSessionsAPI.createSession(
      createSessionRequest: CreateSessionRequest(email: email, password: password), apiConfiguration: configuration)
    configuration.customHeaders["Authorization"] = "Bearer \(tokens.accessToken)"

    let room = try await RoomsAndMembersAPI.createRoom(
      createRoomRequest: CreateRoomRequest(id: UUID(), name: "Tea"), apiConfiguration: configuration)
    for number in 1...messages {
      _ = try await MessagesAPI.sendMessage(
        roomId: room.id, messageId: UUID(), sendMessageRequest: SendMessageRequest(text: "Cup \(number)"),
        apiConfiguration: configuration)
    }

    var texts: [String] = []
    var cursor: String?
    repeat {
      let page = try await MessagesAPI.listMessages(
        roomId: room.id, before: cursor, limit: pageSize, apiConfiguration: configuration)
      texts = page.messages.compactMap(\.text) + texts
      cursor = page.nextCursor
    } while cursor != nil

    let tomorrow = Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 + 86_400).rounded())
    let muted = try await RoomsAndMembersAPI.muteRoom(
      roomId: room.id, muteRoomRequest: MuteRoomRequest(until: tomorrow), apiConfiguration: configuration)
    let renamed = try await AccountsAndSessionsAPI.updateMe(
      updateMeRequest: .typeProfileChange(ProfileChange(nickname: "Anna K.")), apiConfiguration: configuration)
    let output: [String: Any] = [
      "isRegistered": tokens.user.id == account.id, "role": room.role?.rawValue ?? "none", "texts": texts,
      "isMuted": muted.mutedUntil == tomorrow, "nickname": renamed.nickname,
      "code": try await codeOfUnknownRoom(configuration),
    ]
    print(String(decoding: try JSONSerialization.data(withJSONObject: output), as: UTF8.self))
  }

  static func codeOfUnknownRoom(_ configuration: HansardClientAPIConfiguration) async throws -> String {
    do {
      _ = try await RoomsAndMembersAPI.getRoom(roomId: UUID(), apiConfiguration: configuration)
      return "none"
    } catch .error(_, let body, _, _) {
      return try configuration.codableHelper.decode(Problem.self, from: body ?? Data()).get().code
    }
  }
}
