import ChatDomain
import ChatPrimitives
import SwiftProtobuf

extension UserEvent.Uploads: KindFamily {
  static let kinds = [uploadedKind]

  var kind: Kind<Self> {
    switch self {
    case .uploaded: Self.uploadedKind
    }
  }

  private static let uploadedKind = Kind<Self>(
    40, "media.uploaded", .disclosed,
    write: { event, output in
      guard case .uploaded(let media, let content, let name) = event else { return }
      output.write(
        subject: media.uuid,
        Hansard_V1_MediaUploaded.with {
          $0.content = .with(content)
          if let name { $0.name = name }
        }, shows: [("name", .text(orNull: name))] + .media(content))
    },
    read: { (body: Hansard_V1_MediaUploaded, reader) in
      .uploaded(try reader.subject(MediaID.self), Media(body.content), name: body.hasName ? body.name : nil)
    })
}
