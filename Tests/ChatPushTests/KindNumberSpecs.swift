import ChatDomain
import Testing

@testable import ChatPush

<<<<<<<< HEAD:Tests/ChatPushTests/KindNumberSpecs.swift
@Suite("The numbers of kinds of notifications")
struct KindNumberSpecs {
========
@Suite("The kinds that show something, and those that do not")
struct SilentKindSpecs {
>>>>>>>> fd5bf37d (Name new specs apart, and state push against two connections):Tests/ChatPushTests/SilentKindSpecs.swift
  @Test("the raw values of kinds that show nothing begin at `firstSilent`", arguments: PushKind.allCases)
  func silent(kind: PushKind) {
    #expect((kind.rawValue >= PushKind.firstSilent) == (kind.alert == nil))
  }

  @Test("each kind of alert has a kind of notification", arguments: AlertKind.allCases)
  func alerts(kind: AlertKind) {
    #expect(PushKind(kind).alert == kind)
  }
}
