import ChatDomain
import ChatPrimitives
import Testing

@Suite("Who owns a room next")
struct RoomMembersSpecs {
  /// The order that is maintained for many members gives the same heir as a look at all of them, whatever happens to
  /// them.
  @Test("is the highest and longest-standing member, whatever happened before", arguments: [1, 2, 3] as [UInt64])
  func heirs(seed: UInt64) {
    var random = seed
    func below(_ bound: UInt64) -> UInt64 {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (random >> 33) % bound
    }
    var state = given(
      RoomDecider.self, [.lifecycle(.created(.named())), .members(.joined(alice, role: .owner, invite: nil))]
    ).state
    var model: [(user: UserID, role: Role)] = []
    // The room grows beyond the size at which all members are compared, shrinks, and grows again.
    for step in 0..<UInt64(3_000) {
      let grows = (step / 500) % 2 == 0
      let user: UserID = id(1_000 + below(300))
      let index = model.firstIndex { $0.user == user }
      let event: RoomEvent
      if below(4) == 0, let index {
        model[index].role = below(8) == 0 ? .administrator : .member
        event = .members(.roleChanged(user, model[index].role))
      } else if below(10) < (grows ? 8 : 2) {
        if index == nil { model.append((user, .member)) }
        event = .members(.added(user, role: .member))
      } else {
        model.removeAll { $0.user == user }
        event = .members(.left(user))
      }
      RoomDecider.evolve(&state, event, .at(step + 10))
      let heir = model.first { $0.role == .administrator } ?? model.first
      let events = given(RoomDecider.self, []).with(state).when(.members(.remove(alice)), by: .service()).result
      let expected: [RoomEvent] =
        [.members(.removed(alice))] + (heir.map { [.members(.roleChanged($0.user, .owner))] } ?? [])
      guard events == .success(.record(expected)) else {
        Issue.record("step \(step): \(events), not \(expected)")
        return
      }
    }
  }
}

extension Given where D == RoomDecider {
  fileprivate func with(_ state: RoomState) -> Given {
    var copy = self
    copy.state = state
    return copy
  }
}
