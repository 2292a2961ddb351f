import ChatDomain
import ChatPrimitives
import ChatProtocol

import struct ChatProtocol.Room
import struct ChatProtocol.Workspace

/// A change of the name, topic and picture of a room or a workspace, converted from the request.
struct SpaceEdit {
  let name: String?
  let topic: String?
  let picture: PictureEdit?

  init(_ body: UpdatePlaceRequest) throws {
    guard body.name != nil || body.topic != nil || body.picture != nil else {
      throw Refusal.invalidField("Send at least one of name, topic and picture.")
    }
    name = body.name
    topic = body.topic
    picture = try body.picture.map { text in
      if text.isEmpty { return .remove }
      guard let media = MediaID(text) else {
        throw Refusal.invalidField(
          "The field \"picture\" must be the ID of a file, or empty to remove the picture.", at: "/picture")
      }
      return .set(media)
    }
  }

  var ofRoom: RoomEdit { RoomEdit(name: name, topic: topic, picture: picture) }
  var ofWorkspace: WorkspaceEdit { WorkspaceEdit(name: name, topic: topic, picture: picture) }

  /// Shows the name, topic and picture as they were requested.
  func show(in space: inout some Space) {
    if let name { space.name = name }
    if let topic { space.topic = topic.isEmpty ? nil : topic }
    switch picture {
    case nil: break
    case .set(let media): space.picture = media
    case .remove: space.picture = nil
    }
  }
}

/// A room or a workspace: both have a name, a topic and a picture.
protocol Space {
  var name: String { get set }
  var topic: String? { get set }
  var picture: MediaID? { get set }
}

extension Room: Space {}
extension Workspace: Space {}
