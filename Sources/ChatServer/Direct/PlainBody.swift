import NIOCore

/// The most common body of a message: an object with only a text, without escapes. It is read without a JSON decoder.
enum PlainBody {
  /// - Returns: nil for every other body, valid or not.
  static func text(in body: ByteBuffer) -> String? {
    var text: String?
    let isPlain = PlainJSON.readMembers(of: body) { name, value in
      guard text == nil, name.equals("text") else { return false }
      text = PlainJSON.text(value)
      return text != nil
    }
    return isPlain ? text : nil
  }
}
