/// Where a text contains the searched words.
struct SearchMatch {
  /// The number of occurrences of each piece.
  let counts: [Int]
  /// The number of words and single characters of the text.
  let length: Int
  /// The ranges of the hits in the composed text, in order, without overlaps.
  let places: [Range<Int>]

  /// - Parameter text: in composed form.
  /// - Returns: nil unless the text contains every piece.
  init?(_ words: SearchWords, in text: UnsafeBufferPointer<UInt8>) {
    let units = TextUnits(text)
    var counts: [Int] = []
    var places: [Range<Int>] = []
    for piece in words.pieces {
      let found = Self.places(of: piece, in: units)
      guard !found.isEmpty else { return nil }
      counts.append(found.count)
      places += found
    }
    self.counts = counts
    length = units.count
    self.places = Self.joined(places)
  }

  private static func places(of piece: SearchWords.Piece, in units: TextUnits) -> [Range<Int>] {
    guard piece.units.count <= units.count else { return [] }
    return (0...(units.count - piece.units.count)).compactMap { start in
      for (offset, wanted) in piece.units.enumerated() {
        let isLast = offset == piece.units.count - 1
        guard
          fits(wanted, units, at: start + offset, isFirst: offset == 0, isOpen: isLast && piece.isOpen)
        else { return nil }
      }
      let end = start + piece.units.count - 1
      return units.units[start].place.lowerBound..<units.units[end].place.upperBound
    }
  }

  private static func fits(
    _ wanted: SearchWords.Piece.Unit, _ units: TextUnits, at index: Int, isFirst: Bool, isOpen: Bool
  ) -> Bool {
    let unit = units.units[index]
    guard unit.isPaired == wanted.isPaired else { return false }
    if !isFirst, wanted.isJoined != unit.isJoined { return false }
    let bytes = units.bytes(of: index)
    return isOpen ? bytes.starts(with: wanted.bytes) : bytes.elementsEqual(wanted.bytes)
  }

  private static func joined(_ places: [Range<Int>]) -> [Range<Int>] {
    var joined: [Range<Int>] = []
    for place in places.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = joined.last, place.lowerBound < last.upperBound {
        joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, place.upperBound)
      } else {
        joined.append(place)
      }
    }
    return joined
  }
}
