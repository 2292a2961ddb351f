import ChatDomain
import ChatPrimitives
import Foundation
import GRDB
import Testing

@testable import ChatProjections

@Suite struct SearchTests {
  private let anna: UserID = .numbered(1)
  private let ben: UserID = .numbered(2)
  private let carol: UserID = .numbered(3)
  private let tea: RoomID = .numbered(100)
  private let den: RoomID = .numbered(101)

  // MARK: - Finding words

  @Test("words are found in the rooms of the user, and nowhere else")
  func rooms() throws {
    var script = SearchScript()
    script.open(tea, anna, ben)
    script.open(den, carol)
    let first = script.say("good morning", in: tea, by: anna)
    let second = script.say("Good evening", in: den, by: carol)
    let queue = try build(SearchProjection.self, script.events)
    #expect(try find("good", as: anna, queue) == [script.said[first].position])
    #expect(try find("good", as: carol, queue) == [script.said[second].position])
    #expect(try find("good", as: .numbered(9), queue) == [])
    let words = try #require(SearchWords("good"))
    let foreign = try queue.read { (database) throws in
      try SearchQueries(database).page(SearchRequest(words: words, user: anna, room: den), limit: 5).hits
    }
    #expect(foreign.isEmpty)
  }

  @Test(
    "users who left or were removed or banned find nothing; users who rejoin find everything", arguments: [0, 1, 2])
  func leaving(how: Int) throws {
    var script = SearchScript()
    script.open(tea, anna, ben)
    script.say("good morning", in: tea, by: anna)
    script.leave(ben, tea, [.members(.left(ben)), .members(.removed(ben)), .members(.banned(ben))][how])
    var queue = try build(SearchProjection.self, script.events)
    #expect(try find("good", as: ben, queue) == [] && find("good", as: anna, queue).count == 1)
    script.join(ben, tea)
    queue = try build(SearchProjection.self, script.events)
    #expect(try find("good", as: ben, queue).count == 1)
  }

  @Test("an edited text is found by its new words, a deleted one by none, a deleted room's by nobody")
  func changes() throws {
    var script = SearchScript()
    script.open(tea, anna, ben)
    let edited = script.say("first words", in: tea, by: anna)
    let deleted = script.say("other words", in: tea, by: anna)
    script.edit(edited, "second thoughts")
    script.delete(deleted)
    var queue = try build(SearchProjection.self, script.events)
    #expect(try find("words", as: anna, queue) == [] && find("first", as: anna, queue) == [])
    #expect(try find("thoughts", as: anna, queue) == [script.said[edited].position])
    #expect(try hits("thoughts", as: anna, queue).map(\.location) == [.room(1)])
    script.edit(edited, "third")
    script.close(tea)
    script.join(anna, tea)
    queue = try build(SearchProjection.self, script.events)
    #expect(try find("third", as: anna, queue) == [])
    try queue.write { while try SearchBulkDeletion.step($0) {} }
    #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM wording WHERE isGone = 0") } == 0)
  }

  @Test("a deleted room is found by nobody at once, and goes in bounded portions", arguments: [1, 7, 21, 22, 23, 1000])
  func closing(rows: Int) throws {
    var script = SearchScript()
    script.open(den, anna, ben)
    script.open(tea, anna, ben)
    for number in 0..<20 { script.say("good \(number)", in: tea, by: anna) }
    let kept = script.say("good night", in: den, by: ben)
    script.edit(3, "good again")
    let before = script.events.count
    script.close(tea)
    // A room that is created later must not get any of its rows.
    script.open(.numbered(102), anna, ben)
    let queue = try build(SearchProjection.self, Array(script.events.prefix(before)))
    try apply(SearchProjection.self, script.events, from: before, to: queue)
    func count(_ what: String) throws -> Int {
      try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM \(what)") ?? 0 }
    }
    // The deletion itself did not change these rows.
    #expect(try count("wording WHERE isGone = 0") == 21 && count("place") == 21)
    var (left, steps) = (try count("place") + count("member"), 0)
    #expect(left == 27)
    while true {
      #expect(try find("good", as: anna, queue) == [script.said[kept].position])
      #expect(try find("good", as: ben, queue) == [script.said[kept].position])
      guard try queue.write({ try SearchBulkDeletion.step($0, rows: rows) }) else { break }
      let now = try count("place") + count("member")
      #expect(left - now <= rows)
      (left, steps) = (now, steps + 1)
    }
    #expect(steps == 22 / rows + 1)
    #expect(try count("wording WHERE isGone = 0") == 1 && count("place") == 1 && count("member") == 4)
    #expect(try count("room") == 2 && count("closing") == 0 && count("erasure") == 1)
    let secrets =
      "wording WHERE isGone = 1 AND (sender <> zeroblob(16) OR text <> zeroblob(length(text)) OR type <> zeroblob(length(type)))"
    #expect(try count(secrets) == 0)
  }

  @Test("threads, names of files and an app's own parts are searched too, and an edit keeps them")
  func content() throws {
    var script = SearchScript()
    script.open(tea, anna, ben)
    let root = script.say("root", in: tea, by: anna)
    let reply = script.say("kettle", in: tea, by: ben, inThread: root)
    let file = script.say("", in: tea, by: anna, details: picture("Teapot 2026.png"))
    let order = script.say(
      "shipped", in: tea, by: ben,
      details: MessageDetails(custom: CustomPart(type: "order", body: #"{"number":"A-10482","state":"보냄"}"#)))
    script.edit(order, "delivered")
    let queue = try build(SearchProjection.self, script.events)
    #expect(try hits("kettle", as: anna, queue).map(\.location) == [MessageLocation(thread: 1, ordinal: 1)])
    #expect(try find("teapot", as: anna, queue) == [script.said[file].position])
    #expect(try find("a-10482", as: anna, queue) == [script.said[order].position])
    #expect(try find("보냄 delivered", as: anna, queue) == [script.said[order].position])
    #expect(try find("shipped", as: anna, queue) == [] && find("number", as: anna, queue) == [])
    _ = reply
  }

  @Test("an edit of an app's own part replaces its words and keeps the names of files and the text")
  func editedPart() throws {
    var script = SearchScript()
    script.open(tea, anna, ben)
    let file = Attachment(
      media: .numbered(77), content: Media(hash: [1], contentType: "image/png", size: 1), name: "Teapot.png")
    let order = script.say(
      "shipped", in: tea, by: ben,
      details: MessageDetails(attachments: [file], custom: CustomPart(type: "order", body: #"{"state":"packed"}"#)))
    script.edit(order, MessageEdit(text: nil, customBody: #"{"state":"delivered"}"#))
    let queue = try build(SearchProjection.self, script.events)
    for words in ["teapot", "shipped", "delivered"] {
      #expect(try find(words, as: anna, queue) == [script.said[order].position])
    }
    #expect(try find("packed", as: anna, queue) == [])
    script.edit(order, MessageEdit(text: "at the door", customBody: "7"))
    let later = try build(SearchProjection.self, script.events)
    #expect(try find("teapot door", as: anna, later) == [script.said[order].position])
    #expect(try find("delivered", as: anna, later) == [] && find("shipped", as: anna, later) == [])
  }

  @Test("every filter keeps what it should")
  func filters() throws {
    var script = SearchScript()
    script.open(tea, anna, ben)
    script.open(den, anna)
    func time(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: EventScript.start + seconds * 1000) }
    let plain = script.say("good one", in: tea, by: anna, at: time(-100))
    let file = script.say("good two", in: tea, by: ben, at: time(-50), details: picture("a.png"))
    let other = script.say("good three", in: den, by: anna, at: time(-10), details: typed("order"))
    let queue = try build(SearchProjection.self, script.events)
    func found(_ change: (inout SearchRequest) -> Void) throws -> [Int] {
      let positions = try find("good", as: anna, queue, change)
      return positions.compactMap { position in script.said.firstIndex { $0.position == position } }
    }
    #expect(try found { _ in } == [other, file, plain])
    #expect(try found { $0.room = self.tea } == [file, plain])
    #expect(try found { $0.sender = self.anna } == [other, plain])
    #expect(try found { $0.hasMedia = true } == [file])
    #expect(try found { $0.hasMedia = false } == [other, plain])
    #expect(try found { $0.type = "order" } == [other])
    #expect(try found { $0.type = "orders" } == [])
    #expect(try found { ($0.type, $0.hasMedia) = ("order", true) } == [])
    #expect(try found { $0.since = time(-50) } == [other, file])
    #expect(try found { $0.until = time(-50) } == [plain])
    #expect(try found { ($0.since, $0.until) = (time(-60), time(-10)) } == [file])
    #expect(try found { ($0.since, $0.until) = (time(0), time(-60)) } == [])
  }

  @Test("an erased text is not found, and what follows it keeps its place")
  func erased() throws {
    var script = EventScript()
    script.room(tea, .erased(kind: 100), by: anna)
    script.room(tea, .members(.joined(anna, role: .owner, invite: nil)), by: anna)
    script.room(tea, .messages(.sent(.numbered(1), author: anna, thread: nil, nil)), by: anna)
    script.room(tea, .messages(.sent(.numbered(2), author: anna, thread: nil, .plain("two"))), by: anna)
    script.room(tea, .messages(.edited(.numbered(2), at: .room(2), nil)), by: anna)
    script.room(tea, .messages(.sent(.numbered(3), author: anna, thread: nil, .plain("three two"))), by: anna)
    script.room(tea, .erased(kind: 105), by: anna)
    let queue = try build(SearchProjection.self, script.events)
    #expect(try hits("two", as: anna, queue).map(\.location) == [.room(3)])
  }

  // MARK: - Korean

  @Test("every two-syllable word is found wherever it is in a Korean sentence")
  func korean() throws {
    var script = SearchScript()
    script.open(tea, anna)
    for (index, sentence) in Korean.sentences.enumerated() {
      // Every third sentence is decomposed, as some keyboards write it.
      script.say(index % 3 == 0 ? sentence.decomposedStringWithCanonicalMapping : sentence, in: tea, by: anna)
    }
    let queue = try build(SearchProjection.self, script.events)
    var pairs: Set<String> = []
    for sentence in Korean.sentences {
      for word in sentence.split(whereSeparator: { !$0.isLetter }) where word.count > 1 {
        for start in 0..<(word.count - 1) { pairs.insert(String(word.dropFirst(start).prefix(2))) }
      }
    }
    #expect(pairs.count > 200)
    for pair in pairs {
      let expected = Korean.sentences.indices.filter { Korean.sentences[$0].contains(pair) }
      let found = try find(pair, as: anna, queue).compactMap { position in
        script.said.firstIndex { $0.position == position }
      }
      #expect(found.sorted() == expected, "\(pair)")
    }
    // A single syllable is only found at the beginning of a run.
    #expect(try hits("집", as: anna, queue).count == Korean.sentences.count { $0.contains(" 집") || $0.hasPrefix("집") })
  }
}

/// Typical sentences from messages.
enum Korean {
  static let sentences = [
    "오늘 저녁에 시간 괜찮으세요?", "내일 회의는 오후 세 시로 옮겼습니다.", "집에 도착하면 연락 주세요.", "점심은 김치찌개 어때요",
    "주문하신 상품이 방금 출발했습니다.", "사진 잘 받았어요, 고마워요!", "다음 주 월요일까지 보고서 부탁드립니다.", "지금 지하철인데 조금 늦을 것 같아",
    "생일 축하해! 맛있는 거 먹자", "비밀번호를 잊어버렸어요.", "배송 조회는 어디서 하나요?", "우리 집 강아지가 아파서 병원에 갔다 왔어",
    "이번 프로젝트 일정 공유드립니다.", "커피 한 잔 하실래요?", "환불은 삼 일 안에 처리됩니다.", "비가 오니까 우산 챙겨",
    "영화표 예매했어, 일곱 시 영화야.", "안녕하세요, 처음 뵙겠습니다.", "회의실 예약이 취소되었습니다.", "오랜만이야, 잘 지냈어?",
    "결제 오류가 계속 나는데 확인 부탁해요.", "주말에 등산 갈 사람?", "감사합니다. 좋은 하루 보내세요.", "그 파일 다시 보내 줄 수 있어?",
    "택배가 아직 안 왔어요.", "버스 정류장 앞에서 만나자", "신규 회원 가입은 여기에서 하시면 됩니다.", "아이가 열이 나서 오늘은 재택근무합니다.",
    "계약서 초안 검토했습니다.", "공항까지 얼마나 걸려요?", "집들이 선물 뭐가 좋을까", "서버 점검은 새벽 두 시에 시작합니다.",
  ]
}
