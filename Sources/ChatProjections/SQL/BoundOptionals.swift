import ChatDomain
import ChatPrimitives

/// Completes the metadata of all optional types that statements bind, before any of them is bound.
///
/// Swift 6.3 keeps the metadata of a type as soon as one thread has asked for it to find a conformance, even if that thread has not
/// completed it yet (`swift_getTypeByMangledNameInContextInMetadataState2`, state `Abstract`). A thread that binds a value of this
/// type in the meantime finds a size of zero, reserves no memory for it, and overwrites its stack. Read models that applied
/// the first events of a server at the same time ended it in this way. `CachedStatement` waits for this, and metadata that is
/// complete stays complete.
enum BoundOptionals {
  /// The sum of their sizes, in bytes.
  static let bytes: Int =
    size(of: Bool?.self) + size(of: Int?.self) + size(of: Int64?.self) + size(of: UInt64?.self) + size(of: String?.self)
    + size(of: [UInt8]?.self) + size(of: UTF8Text?.self) + size(of: UUIDBytes?.self) + size(of: LogPosition?.self)
    + size(of: Timestamp?.self) + size(of: Fingerprint?.self) + size(of: Role?.self) + size(of: Stamp?.self)
    + size(of: MessageLocation?.self) + size(of: UserID?.self) + size(of: SessionID?.self) + size(of: DeviceID?.self)
    + size(of: RoomID?.self) + size(of: WorkspaceID?.self) + size(of: MessageID?.self) + size(of: MediaID?.self)
    + size(of: InviteID?.self)

  /// Not optimized, because it must ask for the metadata of the type.
  @inline(never)
  @_optimize(none)
  private static func size<Bound>(of type: Bound.Type) -> Int { MemoryLayout<Bound>.size }
}
