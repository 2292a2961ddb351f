import ChatPrimitives
import SwiftProtobuf

/// A fact as it is written: its kind, what it is about, and its payload (nil for an empty one).
struct EncodedBody {
  let kind: EventKind
  let subject: UUIDBytes?
  let message: (any SwiftProtobuf.Message)?

  init(_ kind: UserEventKind, subject: UUIDBytes? = nil, _ message: (any SwiftProtobuf.Message)? = nil) {
    self.init(.user(kind), subject, message)
  }

  init(_ kind: RoomEventKind, subject: UUIDBytes? = nil, _ message: (any SwiftProtobuf.Message)? = nil) {
    self.init(.room(kind), subject, message)
  }

  init(_ kind: WorkspaceEventKind, subject: UUIDBytes? = nil, _ message: (any SwiftProtobuf.Message)? = nil) {
    self.init(.workspace(kind), subject, message)
  }

  init(_ kind: ServerEventKind, _ message: (any SwiftProtobuf.Message)? = nil) {
    self.init(.server(kind), nil, message)
  }

  private init(_ kind: EventKind, _ subject: UUIDBytes?, _ message: (any SwiftProtobuf.Message)?) {
    self.kind = kind
    self.subject = subject
    self.message = message
  }
}
