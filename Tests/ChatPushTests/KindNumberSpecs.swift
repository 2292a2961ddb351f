import ChatDomain
import Testing

@testable import ChatPush

@Suite("The kinds that show something, and those that do not")
struct KindNumberSpecs {
  @Test("the raw values of kinds that show nothing begin at `firstSilent`", arguments: PushKind.allCases)
  func silent(kind: PushKind) {
    #expect((kind.rawValue >= PushKind.firstSilent) == (kind.alert == nil))
  }

  @Test("each kind of alert has one kind of notification", arguments: AlertKind.allCases)
  func alerts(kind: AlertKind) {
    #expect(PushKind.allCases.filter { $0.alert == kind }.count == 1)
  }
}
