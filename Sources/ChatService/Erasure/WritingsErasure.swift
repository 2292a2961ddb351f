import ChatDomain
import ChatPrimitives

/// Removes the messages and reactions of deleted users from what others see, with commands. It reads the log once for all
/// of these users.
struct WritingsErasure {
  private static let portion = BulkStream.chunkCommands

  let chat: ChatService
  let users: [UserID: LogSurvey.Life]

  /// What is known of one user so far.
  private struct Writings {
    /// The SHA-256 of each file that the user uploaded.
    var files: Set<[UInt8]> = []
    /// The messages from which the user removed a reaction.
    var takenBack: Set<MessageKey> = []
  }

  /// - Returns: for each user, the SHA-256 of each file that the user uploaded. No later event adds to them.
  func run() async throws(ServiceError) -> [UserID: Set<[UInt8]>] {
    var writings = users.mapValues { _ in Writings() }
    try await LogSurvey(chat: chat, users: users).forEachSlice { (events) async throws(ServiceError) in
      var requests: [ChatService.Request] = []
      for recorded in events {
        guard let user = recorded.actor, let life = users[user] else { continue }
        if let request = erasing(recorded.event, life, &writings[user, default: Writings()]) {
          requests.append(request)
        }
      }
      try await perform(requests)
    }
    return writings.mapValues(\.files)
  }

  /// Nil for an event without a message or a reaction.
  private func erasing(
    _ event: ChatEvent, _ life: LogSurvey.Life, _ writings: inout Writings
  ) -> ChatService.Request? {
    switch event {
    case .user(_, .media(.uploaded(_, let media, _))):
      writings.files.insert(media.hash)
      return nil
    case .room(let room, .messages(.sent(let id, let user, _, _))):
      return chat.erasing(.room(room, .erasing(.message(id, of: user, after: life.deleted))))
    case .room(let room, .annotations(.reactionAdded(let id, _, let user, let emoji, _))):
      return chat.erasing(.room(room, .erasing(.reactions(id, emoji: emoji, of: user))))
    case .room(let room, .annotations(.reactionRemoved(let id, _, let user, _))):
      guard writings.takenBack.insert(MessageKey(room: room, message: id)).inserted else { return nil }
      return chat.erasing(.room(room, .erasing(.reactions(id, emoji: nil, of: user))))
    case .user, .room, .workspace, .server:
      return nil
    }
  }

  /// Performs many commands. If they were performed before, they record nothing, except those for removed reactions. A
  /// message or room that does not exist any more needs no command.
  private func perform(_ requests: [ChatService.Request]) async throws(ServiceError) {
    var rest = requests[...]
    while !rest.isEmpty {
      let portion = Array(rest.prefix(Self.portion))
      rest = rest.dropFirst(portion.count)
      for result in await BulkStream(chat: chat).enqueue(portion).results() {
        switch result {
        case .success, .failure(.rejected(.roomNotFound)), .failure(.rejected(.messageNotFound)): break
        case .failure(let error): throw error
        }
      }
    }
  }
}
