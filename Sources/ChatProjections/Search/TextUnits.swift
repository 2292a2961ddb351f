/// A text divided into the units that are compared: folded words, and single characters of scripts that are searched by
/// pairs.
struct TextUnits {
  struct Unit {
    /// The range in the folded bytes.
    let folded: Range<Int>
    /// The range in the composed text.
    let place: Range<Int>
    let isPaired: Bool
    /// Whether a paired character directly follows another.
    let isJoined: Bool
  }

  private(set) var units: [Unit] = []
  private var folded: [UInt8] = []

  var count: Int { units.count }

  /// - Parameter text: UTF-8 in composed form.
  init(_ text: UnsafeBufferPointer<UInt8>) {
    TextScanner.scan(text) { word, place in
      add(word, place, isPaired: false, isJoined: false)
    } paired: { place, isJoined in
      add(UnsafeBufferPointer(rebasing: text[place]), place, isPaired: true, isJoined: isJoined)
    }
  }

  private mutating func add(_ bytes: UnsafeBufferPointer<UInt8>, _ place: Range<Int>, isPaired: Bool, isJoined: Bool) {
    let start = folded.count
    folded.append(contentsOf: bytes)
    units.append(Unit(folded: start..<folded.count, place: place, isPaired: isPaired, isJoined: isJoined))
  }

  func bytes(of unit: Int) -> ArraySlice<UInt8> { folded[units[unit].folded] }
}
