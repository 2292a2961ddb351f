import ChatPrimitives
import Testing

@Suite struct CombiningMarksTests {
  @Test(
    arguments: [
      ("\u{301}", 1), ("\u{5b0}", 1), ("\u{3099}", 1), ("\u{1d165}", 1), ("\u{e0100}", 0), ("\u{ff9e}", 1),
      ("\u{344}", 2), ("\u{f73}", 2), ("é", 0), ("a", 0), ("한", 0), ("\u{1161}", 0), ("😀", 0), ("\u{34f}", 0),
    ])
  func countsMarks(text: String, marks: Int) {
    guard marks > 0 else {
      #expect(CombiningMarks.areFew(in: String(repeating: text, count: 1_000)))
      return
    }
    let most = Limits.combiningMarks / marks
    #expect(CombiningMarks.areFew(in: "x" + String(repeating: text, count: most)))
    #expect(!CombiningMarks.areFew(in: "x" + String(repeating: text, count: most + 1)))
  }

  @Test func aLetterEndsARun() {
    let run = String(repeating: "\u{301}", count: Limits.combiningMarks)
    #expect(CombiningMarks.areFew(in: run + "a" + run + "한" + run))
    #expect(!CombiningMarks.areFew(in: run + "\u{301}"))
  }

  @Test func removesExcessMarks() {
    let run = String(repeating: "\u{301}", count: Limits.combiningMarks)
    let limited = CombiningMarks.limited("a" + run + run + "b" + run)
    #expect(limited.unicodeScalars.elementsEqual(("a" + run + "b" + run).unicodeScalars))
  }
}
