import ChatPrimitives

@testable import ChatService

/// Tries a cursor of the sync: the input as its text, then as its bytes, with a kind that exists.
func fuzzCursors(_ input: [UInt8]) {
  if let cursor = SyncCursor(text: String(decoding: input, as: UTF8.self)) {
    demand(Array(cursor.text.utf8) == input, "a cursor that parses has the same text")
    tryCursor(cursor)
  }
  guard let kind = input.first else { return }
  let bytes = [kind % 3 + 1] + input.dropFirst()
  guard let cursor = SyncCursor(bytes: bytes) else { return }
  demand(cursor.bytes == bytes, "a cursor that parses encodes to the same bytes")
  tryCursor(cursor)
}

private func tryCursor(_ cursor: SyncCursor) {
  demand(SyncCursor(text: cursor.text) == cursor, "a cursor survives its text")
  demand(cursor.bytes.count <= SyncCursor.maximumBytes, "a cursor is within its limit")
  guard let progress = cursor.position.stage.progress else { return }
  demand(cursor.position.position <= progress.target, "a response does not end before it begins")
  demand(progress.reached <= progress.target, "a response reaches nothing beyond its end")
  demand(progress.key.count <= SyncProgress.keyBytes, "the key is within its limit")
}
