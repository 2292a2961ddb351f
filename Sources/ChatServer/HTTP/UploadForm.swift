import NIOCore

/// The file in the form of an upload, as it arrives. One task reads it, once.
final class UploadForm: AsyncSequence {
  private var form: MultipartForm
  private var pieces: IncomingBody.AsyncIterator
  private var events: ArraySlice<MultipartForm.Event> = []
  private var hasEnded = false

  init(_ form: MultipartForm, in body: IncomingBody) {
    self.form = form
    pieces = body.makeAsyncIterator()
  }

  /// Reads the form up to its file.
  /// - Returns: the file's name, if it has one.
  func open() async throws -> String? {
    while let event = try await next() {
      if case .file(let name) = event { return name }
    }
    throw Refusal.invalidForm(MultipartForm.Flaw.noFile.rule)
  }

  private func next() async throws -> MultipartForm.Event? {
    while true {
      if let event = events.popFirst() { return event }
      if hasEnded { return nil }
      let piece = try await pieces.next()
      // A body also ends if its task is cancelled. It is then incomplete.
      if piece == nil { try Task.checkCancellation() }
      do throws(MultipartForm.Flaw) {
        if let piece {
          events = try form.receive(piece.readableBytesView)[...]
        } else {
          hasEnded = true
          try form.finish()
        }
      } catch {
        throw Refusal.invalidForm(error.rule)
      }
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(form: self) }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate let form: UploadForm

    mutating func next() async throws -> ByteBuffer? {
      while let event = try await form.next() {
        if case .content(let bytes) = event { return ByteBuffer(bytes: bytes) }
      }
      return nil
    }
  }
}

extension MultipartForm.Flaw {
  /// The rule that the form breaks, for the client.
  var rule: String {
    switch self {
    case .boundary: "the Content-Type needs a boundary of 1 to \(MultipartForm.boundaryBytes) bytes (RFC 2046)"
    case .afterDelimiter: "a boundary must be followed by a line break, or by -- at the end"
    case .head: "each part needs one Content-Disposition: form-data with a name, in UTF-8"
    case .headTooLong: "the header of a part can have at most \(MultipartForm.headBytes) bytes"
    case .tooLong: "everything but the file can have at most \(MultipartForm.otherBytes) bytes"
    case .secondFile: "it can have only one file"
    case .noFile: "it needs a file: a part with a file name, or with the name \(FormPartHead.fileField)"
    case .incomplete: "it ends before its last boundary"
    }
  }
}
