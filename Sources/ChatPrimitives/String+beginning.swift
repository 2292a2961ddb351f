extension String {
  /// The longest prefix of whole characters that has at most `bytes` bytes of UTF-8.
  public func beginning(ofBytes bytes: Int) -> String {
    guard utf8.count > bytes else { return self }
    var end = startIndex
    var used = 0
    for index in indices {
      let next = self.index(after: index)
      used += self[index..<next].utf8.count
      guard used <= bytes else { break }
      end = next
    }
    return String(self[..<end])
  }
}
