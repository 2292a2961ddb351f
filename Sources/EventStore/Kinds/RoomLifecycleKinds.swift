import ChatDomain
import ChatPrimitives
import Foundation
import SwiftProtobuf

extension RoomEvent.Lifecycle: KindFamily {
  static let kinds = [createdKind, renamedKind, editedKind, archivedKind, restoredKind, deletedKind]

  var kind: Kind<Self> {
    switch self {
    case .created: Self.createdKind
    case .edited(let edit): edit.isRenaming ? Self.renamedKind : Self.editedKind
    case .archived: Self.archivedKind
    case .restored: Self.restoredKind
    case .deleted: Self.deletedKind
    }
  }

  private static let createdKind = Kind<Self>(
    100, "room.created", .disclosed,
    write: { event, output in
      guard case .created(let creation) = event else { return }
      output.write(Hansard_V1_RoomCreated.with(creation), shows: creation.shownFields)
    },
    read: { (body: Hansard_V1_RoomCreated, reader) in
      .created(
        RoomCreation(
          kind: try reader.value(body.kind, RoomKind.self), name: body.name, creator: reader.actorIfAny,
          workspace: try reader.id(body.workspaceID), isPublic: body.isPublic, topic: body.hasTopic ? body.topic : nil,
          participants: try reader.ids(body.participants), custom: body.hasCustom ? body.custom : nil))
    })

  /// An edit of the name alone keeps the kind that it had before rooms had other properties.
  private static let renamedKind = Kind<Self>(
    101, "room.renamed", .disclosed,
    write: { event, output in
      guard case .edited(let edit) = event else { return }
      output.write(Hansard_V1_RoomRenamed.with { $0.name = edit.name ?? "" }, shows: .edit(edit))
    },
    read: { (body: Hansard_V1_RoomRenamed, _) in .edited(RoomEdit(name: body.name)) })

  private static let editedKind = Kind<Self>(
    103, "room.edited", .disclosed,
    write: { event, output in
      guard case .edited(let edit) = event else { return }
      output.write(
        Hansard_V1_RoomEdited.with {
          if let name = edit.name { $0.name = name }
          if let topic = edit.topic { $0.topic = topic }
          if let picture = edit.picture { $0.picture = picture.encoded }
          if let custom = edit.custom { $0.custom = custom }
        }, shows: .edit(edit))
    },
    read: { (body: Hansard_V1_RoomEdited, reader) in
      .edited(
        RoomEdit(
          name: body.hasName ? body.name : nil, topic: body.hasTopic ? body.topic : nil,
          picture: body.hasPicture ? try reader.picture(body.picture) : nil,
          custom: body.hasCustom ? body.custom : nil))
    })

  private static let archivedKind = Kind<Self>(
    102, "room.archived", write: { $1.write() }, readEnvelope: { _ in .archived })
  private static let restoredKind = Kind<Self>(
    105, "room.restored", write: { $1.write() }, readEnvelope: { _ in .restored })
  private static let deletedKind = Kind<Self>(
    104, "room.deleted", write: { $1.write() }, readEnvelope: { _ in .deleted })
}

extension ShownFields {
  fileprivate static func edit(_ edit: RoomEdit) -> ShownFields {
    .edit(name: edit.name, topic: edit.topic, picture: edit.picture)
      + (edit.custom.map { [("custom", .text($0))] } ?? [])
  }
}

extension RoomCreation {
  fileprivate var shownFields: ShownFields {
    var fields: ShownFields = [("kind", .text(kind.name)), ("name", .text(name))]
    if let workspace {
      fields += [("workspace", .text(workspace.description)), ("isPublic", .bool(isPublic))]
    }
    if let topic { fields.append(("topic", .text(topic))) }
    if !participants.isEmpty { fields.append(("participants", .list(participants.map { .text($0.description) }))) }
    if let custom { fields.append(("custom", .text(custom))) }
    return fields
  }
}

extension Hansard_V1_RoomCreated {
  fileprivate static func with(_ creation: RoomCreation) -> Self {
    .with {
      $0.kind = UInt32(creation.kind.rawValue)
      $0.name = creation.name
      if let workspace = creation.workspace { $0.workspaceID = Data(workspace.uuid.bytes) }
      $0.isPublic = creation.isPublic
      if let topic = creation.topic { $0.topic = topic }
      $0.participants = creation.participants.map { Data($0.uuid.bytes) }
      if let custom = creation.custom { $0.custom = custom }
    }
  }
}

extension PictureEdit {
  /// Sixteen bytes; empty for no picture.
  var encoded: Data {
    switch self {
    case .set(let media): Data(media.uuid.bytes)
    case .remove: Data()
    }
  }
}

extension PayloadReader {
  func picture(_ bytes: Data) throws(CodecError) -> PictureEdit {
    guard let media = try id(bytes) as MediaID? else { return .remove }
    return .set(media)
  }
}
