@testable import ChatServer

/// Tries the form of an upload with the boundary `x`. The input: the length of the pieces, then the body.
func fuzzForms(_ input: [UInt8]) {
  guard let length = input.first else { return }
  let body = Array(input.dropFirst())
  let whole = read(body, inPiecesOf: max(1, body.count))
  demand(read(body, inPiecesOf: Int(length) + 1) == whole, "a form gives the same in pieces of every length")
  guard let content = whole.content else { return }
  demand(content.isEmpty || contains(body, content), "the file is a part of the body")
  if whole.flaw == nil { demand(whole.hasEnded, "a form without a flaw has an end") }
}

private struct ReadForm: Equatable {
  var name: String?
  /// Nil if there is no file.
  var content: [UInt8]?
  var hasEnded = false
  var flaw: MultipartForm.Flaw?
}

private func read(_ body: [UInt8], inPiecesOf length: Int) -> ReadForm {
  var result = ReadForm()
  do throws(MultipartForm.Flaw) {
    var form = try MultipartForm(boundary: "x")
    var rest = body[...]
    while !rest.isEmpty {
      for event in try form.receive(rest.prefix(length)) { result.take(event) }
      rest = rest.dropFirst(length)
    }
    try form.finish()
  } catch {
    // How much of the file was read before a flaw depends on the pieces.
    return ReadForm(flaw: error)
  }
  return result
}

extension ReadForm {
  fileprivate mutating func take(_ event: MultipartForm.Event) {
    demand(!hasEnded, "nothing follows the end")
    switch event {
    case .file(let name):
      demand(content == nil, "a form has one file")
      (self.name, content) = (name, [])
    case .content(let bytes):
      demand(content != nil && !bytes.isEmpty, "content belongs to a file")
      content?.append(contentsOf: bytes)
    case .end:
      demand(content != nil, "a form has a file")
      hasEnded = true
    }
  }
}

private func contains(_ body: [UInt8], _ part: [UInt8]) -> Bool {
  guard part.count <= body.count else { return false }
  return (0...(body.count - part.count)).contains { body[$0..<($0 + part.count)].elementsEqual(part) }
}

/// Samples of forms, each after the length of its pieces.
enum FormSeeds {
  static let forms: [(name: String, bytes: [UInt8])] = [
    ("curl", form(file + "tea\r\n--x--\r\n")), ("empty-file", form(file + "\r\n--x--")),
    ("field", form("--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n" + file + "\r\n--\r\n--x--end")),
    ("padding", form("before\r\n--x \t\r\ncontent-disposition:form-data;name=file\r\n\r\n\r\n--y\r\n--x--")),
    ("second", form(file + "a\r\n" + file + "b\r\n--x--")), ("cut", form(file + "a\r\n--x")),
  ]

  private static let file =
    "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a%22\\\"b.png\"\r\nContent-Type: image/png\r\n\r\n"

  private static func form(_ body: String) -> [UInt8] { [4] + Array(body.utf8) }
}
