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

  var isEmpty: Bool { name == nil && topic == nil && picture == nil }

  init(_ body: UpdatePlaceRequest) throws {
    try self.init(name: body.name, topic: body.topic, picture: body.picture)
    if isEmpty { throw Refusal.invalidField("Send at least one of name, topic and picture.") }
  }

  init(_ body: UpdateRoomRequest) throws {
    try self.init(name: body.name, topic: body.topic, picture: body.picture)
    if isEmpty, body.custom == nil {
      throw Refusal.invalidField("Send at least one of name, topic, picture and custom.")
    }
  }

  private init(name: String?, topic: String?, picture: String?) throws {
    self.name = name
    self.topic = topic
    self.picture = try picture.map { text in
      if text.isEmpty { return .remove }
      guard let media = MediaID(text) else {
        throw Refusal.invalidField(
          "The field \"picture\" must be the ID of a file, or empty to remove the picture.", at: "/picture")
      }
      return .set(media)
    }
  }

  /// - Parameter custom: the app's own data; nil if it stays.
  func ofRoom(_ custom: CanonicalJSON?) -> RoomEdit {
    RoomEdit(name: name, topic: topic, picture: picture, custom: custom?.stored)
  }
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

extension CanonicalJSON {
  /// As an edit of a profile or a room has it: null removes the data, which an empty text means there.
  var stored: String { self == .null ? "" : canonicalText }

  /// The data after an edit; nil if the edit removes it.
  var kept: CanonicalJSON? { self == .null ? nil : self }
}

/// A room or a workspace: both have a name, a topic and a picture.
protocol Space {
  var name: String { get set }
  var topic: String? { get set }
  var picture: MediaID? { get set }
}

extension Room: Space {}
extension Workspace: Space {}
