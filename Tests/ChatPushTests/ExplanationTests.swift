import ChatDomain
import ChatPrimitives
import Testing

@testable import ChatPush

@Suite struct ExplanationTests {
  @Test("an explanation has every device of current, former and later members, as of the event")
  func explains() throws {
    let dora = UserID.numbered(4)
    var script = Script()
    for (user, name) in [(anna, "Anna"), (ben, "Ben"), (carla, "Carla"), (dora, "Dora")] {
      script.register(user, name)
    }
    script.device(annasPhone, of: anna, token: "a")
    script.device(bensPhone, of: ben, token: "b")
    script.device(bensTablet, of: ben, token: nil)
    script.device(carlasPhone, of: carla, token: "c")
    script.device(.numbered(41), of: dora, token: "d")
    script.create(tea, by: anna, ben, carla)
    script.room(tea, .members(.left(carla)), by: carla)
    script.send(to: tea, by: anna)
    let position = script.send(to: tea, by: anna)
    // Later events do not change the decisions, but show who joined later.
    script.room(tea, .reading(.markerMoved(ben, to: .numbered(2), ordinal: 2)), by: ben)
    script.user(ben, .devices(.removed(bensPhone)))
    script.room(tea, .members(.added(dora, role: .member)), by: anna)
    script.room(tea, .members(.added(carla, role: .member)), by: anna)
    script.baseline()
    let log = MemoryLog(script.events)
    let explanation = try PushExplanation(of: position, in: log)
    #expect(
      explanation.decisions == [
        .init(user: anna, device: annasPhone, decision: .notify(FanOut.Delivery(kind: .sent, badge: 0))),
        .init(user: ben, device: bensPhone, decision: .notify(FanOut.Delivery(kind: .message, badge: 2))),
        .init(user: ben, device: bensTablet, decision: .silent(.noToken)),
        .init(user: carla, device: carlasPhone, decision: .silent(.left)),
        .init(user: dora, device: .numbered(41), decision: .silent(.beforeJoin)),
      ])
    for wrong in [LogPosition.origin, LogPosition(1), log.head.next] {
      #expect(throws: PushExplanationError.notifiesNobody(wrong, head: log.head)) {
        try PushExplanation(of: wrong, in: log)
      }
    }
  }
}
