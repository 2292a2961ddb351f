import Testing

@testable import ChatServer

/// Forms of uploads, whole and in pieces of every length.
@Suite struct MultipartFormSpecs {
  private struct Result: Equatable {
    var name: String?
    var content: [UInt8]?
  }

  private static func read(_ body: [UInt8], boundary: String = "x", piece: Int) throws(MultipartForm.Flaw) -> Result {
    var form = try MultipartForm(boundary: boundary)
    var result = Result()
    var rest = body[...]
    while !rest.isEmpty {
      let events = try form.receive(rest.prefix(piece))
      rest = rest.dropFirst(piece)
      for event in events {
        switch event {
        case .file(let name): (result.name, result.content) = (name, [])
        case .content(let bytes):
          #expect(!bytes.isEmpty)
          result.content?.append(contentsOf: bytes)
        case .end: break
        }
      }
    }
    try form.finish()
    return result
  }

  /// The result, which must not depend on the pieces.
  private func read(
    _ body: String, boundary: String = "x", location: SourceLocation = #_sourceLocation
  ) -> Swift.Result<Result, MultipartForm.Flaw> {
    let bytes = Array(body.utf8)
    let whole = Swift.Result { () throws(MultipartForm.Flaw) in
      try Self.read(bytes, boundary: boundary, piece: max(1, bytes.count))
    }
    for piece in 1..<max(2, min(bytes.count, 200)) {
      let inPieces = Swift.Result { () throws(MultipartForm.Flaw) in
        try Self.read(bytes, boundary: boundary, piece: piece)
      }
      #expect(inPieces == whole, "pieces of \(piece)", sourceLocation: location)
    }
    return whole
  }

  private func part(_ disposition: String, _ content: String) -> String {
    "--x\r\nContent-Disposition: \(disposition)\r\n\r\n\(content)\r\n"
  }

  private func file(_ content: String, name: String = "kettle.png") -> String {
    part("form-data; name=\"file\"; filename=\"\(name)\"", content)
  }

  @Test(
    "the content is every byte up to the delimiter",
    arguments: [
      "", "tea", "\r\n", "\r\n\r\n", "\r\n--", "\r\n--y", "--x", "\r--x", "\n--x", "a\r\n-", "\r\r\n", "\0\u{ff}",
    ])
  func content(content: String) {
    let body = file(content) + "--x--\r\n"
    #expect(read(body) == .success(Result(name: "kettle.png", content: Array(content.utf8))))
  }

  @Test("other fields, a preamble, an epilogue and padding are skipped")
  func others() {
    let body =
      "preamble\r\n" + part("form-data; name=\"roomId\"", "17")
      + "--x \t\r\nX-Other: y\r\ncontent-disposition:form-data; "
      + "filename=a.txt; name=upload\r\nContent-Type: text/plain\r\n\r\ntea\r\n" + part("form-data; name=\"end\"", "")
      + "--x--epilogue"
    #expect(read(body) == .success(Result(name: "a.txt", content: Array("tea".utf8))))
  }

  @Test(
    "the name of a file is that of its form, without escapes and without a path",
    arguments: [
      ("kettle.png", "kettle.png"), ("", nil), ("차.png", "차.png"), ("a;b=c.png", "a;b=c.png"),
      ("a%22b.png", "a\"b.png"),
      ("a%0D%0Ab", "a\r\nb"), ("100%25.png", "100%25.png"), ("a\\\"b.png", "a\"b.png"), ("C:\\tea\\a.png", "a.png"),
      ("tea/a.png", "a.png"), ("tea/", nil), ("../..", ".."),
    ] as [(String, String?)])
  func names(sent: String, name: String?) {
    #expect(read(file("tea", name: sent) + "--x--") == .success(Result(name: name, content: Array("tea".utf8))))
  }

  @Test("a part with the name file is the file, also without a file name")
  func fieldOfFile() {
    let body = part("form-data; name=file", "tea") + "--x--"
    #expect(read(body) == .success(Result(name: nil, content: Array("tea".utf8))))
  }

  @Test("an input without a chosen file is skipped, before and after the file")
  func unchosen() {
    for unchosen in [file("", name: ""), part("form-data; name=\"photo\"; filename=\"\"", "")] {
      let result = Result(name: "kettle.png", content: Array("tea".utf8))
      #expect(read(unchosen + file("tea") + "--x--") == .success(result))
      #expect(read(file("tea") + unchosen + "--x--") == .success(result))
      #expect(read(unchosen + unchosen + "--x--") == .failure(.noFile))
    }
    // With content it is a file, also if that begins like a delimiter.
    for content in ["t", "\r\n--y", "\r\n", "--x"] {
      let unnamed = file(content, name: "")
      #expect(read(unnamed + "--x--") == .success(Result(name: nil, content: Array(content.utf8))))
      #expect(read(unnamed + file("tea") + "--x--") == .failure(.secondFile))
    }
    #expect(read(file("tea") + file("t", name: "") + "--x--") == .failure(.secondFile))
  }

  @Test("a form that breaks a rule is refused")
  func flaws() {
    let good = file("tea")
    #expect(read(good + good + "--x--") == .failure(.secondFile))
    #expect(read(part("form-data; name=a", "tea") + "--x--") == .failure(.noFile))
    #expect(read("--x--") == .failure(.noFile))
    for body in ["", "tea", "--x", good, good + "--x", good + "--x-", "--y\r\n\r\n--y--"] {
      #expect(read(body) == .failure(.incomplete))
    }
    #expect(read("--xy\r\n") == .failure(.afterDelimiter))
    #expect(read("--x\n\n") == .failure(.afterDelimiter))
    for disposition in [
      "attachment; name=a", "form-data", "form-data; filename=a", "form-data; name", "form-data; name=\"a",
      "form-data; name=a name=b", "form-data; name=a; name=b", "", "form-data; =a; name=b",
    ] {
      #expect(read(part(disposition, "tea") + "--x--") == .failure(.head))
    }
    let twice = "--x\r\nContent-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b\r\n\r\n"
    for head in ["--x\r\n\r\n", "--x\r\nno colon\r\n\r\n", twice] { #expect(read(head) == .failure(.head)) }
    let broken = Array("--x\r\nContent-Disposition: form-data; name=\"".utf8) + [0xff] + Array("\"\r\n\r\n".utf8)
    #expect(throws: MultipartForm.Flaw.head) { try Self.read(broken, piece: 7) }
  }

  @Test("the head of a part and everything but the file have limits")
  func limits() {
    func head(_ bytes: Int) -> String {
      let start = "\r\nContent-Disposition: form-data; name=file\r\nX: "
      return "--x" + start + String(repeating: "y", count: bytes - start.utf8.count) + "\r\n\r\ntea\r\n--x--"
    }
    let most = MultipartForm.headBytes
    for bytes in [most - 1, most] { #expect((try? Self.read(Array(head(bytes).utf8), piece: 100)) != nil) }
    #expect(throws: MultipartForm.Flaw.headTooLong) { try Self.read(Array(head(most + 1).utf8), piece: 100) }
    let all = MultipartForm.otherBytes
    func field(_ bytes: Int) -> [UInt8] {
      let end = file("tea") + "--x--"
      // Without the four bytes after each head, and the line break before the first delimiter.
      let other = part("form-data; name=a", "").utf8.count + end.utf8.count - "tea".utf8.count - 2 * 4 - 2 + 2
      return Array((part("form-data; name=a", String(repeating: "y", count: bytes - other)) + end).utf8)
    }
    for bytes in [all - 100, all + 100] {
      let body = field(bytes)
      #expect(((try? Self.read(body, piece: 999)) != nil) == (bytes < all))
    }
    let long = String(repeating: "y", count: all + 100)
    for body in [long, file("tea") + "--x--" + long] {
      #expect(throws: MultipartForm.Flaw.tooLong) { try Self.read(Array(body.utf8), piece: 999) }
    }
  }

  @Test(
    "the boundary of a Content-Type",
    arguments: [
      ("multipart/form-data; boundary=x", true), ("Multipart/Form-Data;boundary=\"x\"", true),
      ("multipart/form-data; charset=utf-8; Boundary=x", true),
      ("multipart/form-data; boundary=" + String(repeating: "x", count: 70), true),
      ("image/png", nil), ("multipart/mixed; boundary=x", nil), ("", nil),
      ("multipart/form-data", false), ("multipart/form-data; boundary=", false),
      ("multipart/form-data; boundary=\"x \"", false),
      ("multipart/form-data; boundary=\"x", false), ("multipart/form-data; boundary=a; boundary=b", false),
      ("multipart/form-data; boundary=" + String(repeating: "x", count: 71), false),
      ("multipart/form-data; boundary=<x>", false),
    ] as [(String, Bool?)])
  func boundaries(type: String, isValid: Bool?) {
    let found = Swift.Result { () throws(MultipartForm.Flaw) in try MultipartForm(contentType: type) }
    switch (found, isValid) {
    case (.success(.some), true), (.success(nil), nil), (.failure(.boundary), false): break
    default: Issue.record("\(type) gives \(found)")
    }
  }
}
