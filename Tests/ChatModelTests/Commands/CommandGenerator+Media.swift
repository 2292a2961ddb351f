import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventLogSimulation
import NIOCore

extension CommandGenerator {
  /// The size of each file.
  static let uploadBytes = UInt64("the text of file 0".utf8.count)

  /// Uses few different files, so that the same file is uploaded again, by the same user and by others.
  mutating func upload(_ model: ChatModel) -> Step? {
    upload(random.below(5), by: anyone())
  }

  mutating func upload(_ number: Int, by user: UserID) -> Step {
    let name = chance(50) ? "file-\(number).txt" : nil
    return Step("u\(user.short) uploads file \(number) as \(name ?? "nothing")", user: user) {
      chat async throws(ServiceError) in
      let (body, continuation) = AsyncStream<ByteBuffer>.makeStream()
      continuation.yield(ByteBuffer(string: "the text of file \(number)"))
      continuation.finish()
      return Step.Receipt(try await chat.upload(body, name: name, by: Principal(user: user)))
    }
  }

  /// New data of an app, its removal, or nil for no change.
  mutating func customData() -> String? { chance(30) ? (chance(30) ? "" : "\"\(text())\"") : nil }

  /// A new picture, the removal of the picture, or nil for no change.
  mutating func picture(by user: UserID) -> PictureEdit? {
    guard chance(40) else { return nil }
    guard chance(80), let media = media(seenBy: user) else { return .remove }
    return .set(media)
  }
}

extension Step.Receipt {
  init(_ upload: Upload) {
    self.init(stamp: upload.row.uploaded, isNew: upload.isNew)
  }
}
