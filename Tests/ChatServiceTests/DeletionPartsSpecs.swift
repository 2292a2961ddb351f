import ChatDomain
import ChatPrimitives
import ChatService
import Testing

@Suite("The parts of a large deletion")
struct DeletionPartsSpecs {
  private let user: UserID = fixed(1)

  private func left(_ number: UInt64, events: Int) -> [ChatEvent] {
    Array(repeating: .room(fixed(number), .members(.left(user))), count: events)
  }

  @Test("a group is not divided, and the account is deleted with the last part")
  func parts() {
    let own: [ChatEvent] = [.user(user, .deletion(.deleted))]
    let (two, three) = (left(10, events: 2), left(11, events: 3))
    func part(_ groups: [[ChatEvent]], limit: Int) -> [ChatEvent] {
      DecisionState.firstPart(of: groups, own: own, limit: limit)
    }
    #expect(part([two, three], limit: 6) == two + three + own)
    #expect(part([two, three], limit: 5) == two + three)
    #expect(part([two, three], limit: 4) == two)
    #expect(part([three], limit: 4) == three + own)
    #expect(part([], limit: 1) == own)
  }
}
