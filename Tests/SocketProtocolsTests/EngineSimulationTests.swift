import EventLogSimulation
import Testing

@testable import SocketProtocols

/// Drives sessions with random inputs in a random order, in any state, and checks what must always hold.
@Suite struct EngineSimulationTests {
  @Test("random inputs break no invariant", arguments: 0..<300 as Range<UInt64>)
  func randomInputs(seed: UInt64) {
    var run = EngineRun(seed: seed)
    for _ in 0..<150 { run.step() }
    #expect(run.violations.isEmpty, "seed \(seed): \(run.violations)")
  }

  @Test("the random inputs reach every ending and every kind of action")
  func coverage() {
    var endings: Set<String> = []
    var kinds: Set<String> = []
    for seed in 0..<300 as Range<UInt64> {
      var run = EngineRun(seed: seed)
      for _ in 0..<150 { run.step() }
      endings.formUnion(run.endings)
      kinds.formUnion(run.kinds)
    }
    #expect(endings.count == 9, "\(endings)")
    #expect(kinds.count == 11, "\(kinds)")
  }
}

/// A session, a random client and application, and what both have seen.
private struct EngineRun {
  private var random: SeededRandom
  private var session: EngineSession
  private var now = Duration.zero
  private var sent: [String] = []
  private var received: [String] = []
  private var pendingPolls = 0
  private var hasSocket: Bool
  private var hasEnded = false
  private var isForgotten = false
  private(set) var violations: [String] = []
  private(set) var endings: Set<String> = []
  private(set) var kinds: Set<String> = []

  init(seed: UInt64) {
    random = SeededRandom(seed: seed)
    hasSocket = Bool.random(using: &random)
    (session, _) = EngineSession.open(
      id: EngineSessionID(random: 0, seed), transport: hasSocket ? .websocket : .polling, limits: .conformance,
      now: .zero)
  }

  mutating func step() {
    now += .milliseconds(Int.random(in: 0...40, using: &random))
    // Polls and pongs are frequent, so that some sessions live long.
    switch Int.random(in: 0..<24, using: &random) {
    case 0..<6: perform("poll") { $0.poll(now: $1) }
    case 6..<9: post("3")
    case 9..<12: if hasSocket { socket("3") }
    case 12..<16: send(Int.random(in: 1...20, using: &random))
    case 16: if hasSocket { socket("2probe") }
    case 17: if hasSocket { socket("5") }
    case 18: if !hasSocket { perform("socketOpened") { $0.socketOpened(now: $1) } }
    case 19: post("4message")
    case 20: perform("tick") { $0.tick(now: $1) }
    default: disturb()
    }
  }

  /// Inputs that end a session or an upgrade.
  private mutating func disturb() {
    switch Int.random(in: 0..<40, using: &random) {
    case 0: post("garbage")
    case 1: if hasSocket { socket("garbage") }
    case 2: perform("close") { $0.close(now: $1) }
    case 3: post("1")
    case 4: if hasSocket { socket("1") }
    case 5: if pendingPolls > 0 { cancelPoll() }
    case 6:
      perform("post") { $0.post(now: $1) }
      perform("postCancelled") { $0.postCancelled(now: $1) }
    case 7:
      perform("post") { $0.post(now: $1) }
      perform("post") { $0.post(now: $1) }
    case 8:
      if hasSocket {
        hasSocket = false
        perform("socketClosed") { $0.socketClosed(now: $1) }
      }
    case 9: send(200)
    default: perform("tick") { $0.tick(now: $1) }
    }
  }

  private mutating func send(_ count: Int) {
    guard session.isOpen else { return }
    let texts = (0..<count).map { "\(sent.count + $0)" }
    sent += texts
    perform("send") { $0.send(texts.map { EnginePacket.message(.text(utf8($0))).encoded }, now: $1) }
  }

  private mutating func post(_ body: String) {
    perform("post") { $0.post(now: $1) }
    perform("postBody") { $0.postBody(utf8(body), now: $1) }
  }

  private mutating func socket(_ text: String) {
    perform("socketMessage") { $0.socketMessage(.text(utf8(text)), now: $1) }
  }

  private mutating func cancelPoll() {
    pendingPolls -= 1
    perform("pollCancelled") { $0.pollCancelled(now: $1) }
  }

  private mutating func perform(_ name: String, _ input: (inout EngineSession, Duration) -> [EngineAction]) {
    if name == "poll" { pendingPolls += 1 }
    for action in input(&session, now) { apply(action, name) }
    if session.bufferedBytes != session.buffer.reduce(0, { $0 + $1.cost }) {
      violations.append("\(name): the bytes of the buffer are not counted")
    }
    if session.isPollPending != (pendingPolls == 1) || pendingPolls > 1 {
      violations.append("\(name): \(pendingPolls) polls are pending")
    }
    if !zip(sent, received).allSatisfy(==) { violations.append("\(name): messages are lost or repeated") }
    if let deadline = session.deadline, deadline <= now { violations.append("\(name): the deadline has passed") }
    if (session.deadline == nil) != isForgotten { violations.append("\(name): no deadline for a session that is kept") }
    if session.isOpen == hasEnded { violations.append("\(name): open, but ended") }
  }

  private mutating func apply(_ action: EngineAction, _ input: String) {
    kinds.insert(String("\(action)".prefix { $0 != "(" }))
    switch action {
    case .answerPoll(let body):
      pendingPolls -= 1
      receive(String(decoding: body, as: UTF8.self).split(separator: "\u{1e}", omittingEmptySubsequences: false))
    case .write(let message):
      if !hasSocket { violations.append("\(input): a write without a WebSocket") }
      receive([String(decoding: message.bytes, as: UTF8.self)[...]])
    case .refusePoll: pendingPolls -= 1
    case .acceptSocket: hasSocket = true
    case .closeSocket:
      if !hasSocket { violations.append("\(input): there is no WebSocket to close") }
      hasSocket = false
    case .deliver: if hasEnded { violations.append("\(input): a message after the end") }
    case .ended(let ending):
      if hasEnded { violations.append("\(input): a second end") }
      hasEnded = true
      endings.insert(String("\(ending)".prefix { $0 != "(" }))
    case .forget:
      if isForgotten || !hasEnded { violations.append("\(input): forgotten twice, or before the end") }
      isForgotten = true
    case .refusePost, .refuseSocket, .answerPost: break
    }
  }

  private mutating func receive(_ packets: [Substring]) {
    if packets.count > EngineLimits.conformance.packetsPerPoll { violations.append("too many packets") }
    received += packets.filter { $0.first == "4" }.map { String($0.dropFirst()) }
  }
}
