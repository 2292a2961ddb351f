import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventStore

extension Comparison {
  /// Compares what a user sees of everything that was uploaded.
  func compareMedia(for user: UserID) async throws {
    let visible = model.media(seenBy: user)
    for media in model.users.values.flatMap(\.media) {
      let found = try await result { () async throws(ServiceError) in
        ModelMedia(try await chat.media(media.id, for: user).row)
      }
      let expected: QueryResult<ModelMedia> = visible.contains(media) ? .found(media) : .refused("media_not_found")
      try expect("medium \(media.id.short) of u\(media.uploader.short) for u\(user.short)", expected, found)
    }
  }

  /// Compares the usage that quotas are checked against.
  func compareUsage() async throws {
    try await chat.readModels.usage.wait(for: chat.store.head)
    let found = try await chat.readModels.usage.read { try $0.newestDay() }
    guard let day = model.usage.keys.max(), let expected = model.usage[day] else { return }
    // The model does not count the bytes in the log. Specs cover the counts of rooms and invites.
    try expect(
      "usage", expected,
      found.users.mapValues {
        Usage(messages: $0.messages, mediaBytes: $0.mediaBytes, events: $0.events)
      })
  }
}

extension ModelMedia {
  init(_ row: MediaRow) {
    self.init(id: row.id, uploader: row.uploader, content: row.content, name: row.name, uploaded: row.uploaded)
  }
}
