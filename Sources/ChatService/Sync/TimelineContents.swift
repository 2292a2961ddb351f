import ChatDomain
import ChatPrimitives
import ChatProjections

/// Reads the messages that sources of `timeline` name, and the roots of threads. See `RoomsContents`.
struct TimelineContents {
  /// The maximum number of messages that are read together.
  static let readAtOnce: UInt64 = 32

  let timeline: TimelineQueries
  let user: UserID
  /// Where the user became a member of the rooms of the messages.
  let joined: [RoomID: LogPosition]
  let sources: TimelineSources

  /// - Parameter threads: the threads among the entities; one with no followed thread is a tombstone.
  func contents(
    of named: [(point: SyncPoint, entity: SyncEntity)], _ threads: [SyncPoint: SyncedThread]
  ) throws -> [SyncPoint: SyncItem.Content] {
    var found: [SyncPoint: SyncItem.Content] = [:]
    var points: [Timeline: [(ordinal: UInt64, point: SyncPoint)]] = [:]
    for (point, entity) in named {
      switch entity {
      case .message(let location, let room):
        points[Timeline(room: room, thread: location.thread), default: []].append((location.ordinal, point))
      case .thread(let ordinal, let room):
        guard let thread = threads[point], let root = try timeline.shown(at: .room(ordinal), of: room, for: user) else {
          continue
        }
        found[point] =
          if let followed = thread.followed {
            .thread(followed, root: root)
          } else {
            .unfollowedThread(ordinal, root: root.row.id, in: room)
          }
      case .gap(let room):
        guard let joined = joined[room], try timeline.mayRead(room, user) else { continue }
        found[point] = try sources.gap(SyncedRoom(id: room, joined: joined)).map { .gap($0) }
      default: continue
      }
    }
    for (place, points) in points {
      for run in Self.runs(Set(points.map(\.ordinal)).sorted()) {
        for (message, changed) in try read(run, of: place) {
          for (ordinal, point) in points where ordinal == message.row.ordinal && point.position == changed {
            found[point] = .message(message)
          }
        }
      }
    }
    return found
  }

  private struct Timeline: Hashable {
    let room: RoomID
    let thread: UInt64
  }

  /// The messages of a run, with their revisions for the user.
  private func read(
    _ run: ClosedRange<UInt64>, of place: Timeline
  ) throws -> [(message: ShownMessage, revision: LogPosition)] {
    guard let joined = joined[place.room], try timeline.mayRead(place.room, user) else { return [] }
    return try timeline.changedContents(of: place.room, thread: place.thread, run, for: user).map {
      ($0.message, max($0.position, joined))
    }
  }

  /// Divides sorted ordinals into ranges without gaps, each of at most `readAtOnce`.
  private static func runs(_ ordinals: [UInt64]) -> [ClosedRange<UInt64>] {
    ordinals.reduce(into: []) { runs, ordinal in
      if let last = runs.last, last.upperBound + 1 == ordinal, last.count < readAtOnce {
        runs[runs.count - 1] = last.lowerBound...ordinal
      } else {
        runs.append(ordinal...ordinal)
      }
    }
  }
}
