import ChatPrimitives
import Foundation

/// The rank of a hit. It depends only on the message and the searched words, not on the time of the search or on other
/// messages. So it is the same on every page of a search, and reveals nothing about rooms that the user cannot see.
///
/// It is the part of BM25 (Robertson and Zaragoza, 2009, section 3.4) that depends on frequency and length, halved for
/// each 30 days of the message's age. The part for the rarity of a word is omitted: it weighs the words of one query
/// against each other, and here every hit contains all of them.
struct SearchRank {
  /// BM25's k₁: how quickly repetitions of a word count for less.
  private static let saturation = 1.2
  /// BM25's b: how much the length of a text counts, from 0 to 1.
  private static let lengthShare = 0.75
  /// The typical length of a message, in words.
  private static let defaultLength = 12.0
  /// The time after which a message's weight is halved: 30 days.
  private static let halfLifeMilliseconds = 30.0 * 24 * 60 * 60 * 1000
  /// The rank is stored as an integer, in these fractions of a doubling, so that a cursor can contain it exactly.
  private static let partsOfDoubling = 1_048_576.0

  static func rank(_ match: SearchMatch, sentAt: Timestamp) -> Int64 {
    let length = 1 - lengthShare + lengthShare * Double(match.length) / defaultLength
    let relevance = match.counts.reduce(0.0) { sum, count in
      sum + Double(count) * (saturation + 1) / (Double(count) + saturation * length)
    }
    let doublings = log2(relevance) + Double(sentAt.milliseconds) / halfLifeMilliseconds
    return Int64(exactly: (doublings * partsOfDoubling).rounded()) ?? 0
  }
}
