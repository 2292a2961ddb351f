import ChatPrimitives
import Foundation

/// How far up a hit stands, as a number of its own: it depends on the message and the words that are searched for, and
/// neither on the time of the search nor on other messages. So it is the same on every page of a search, and tells nothing
/// of rooms that the user does not see.
///
/// It is BM25's (Robertson and Zaragoza, 2009, section 3.4) share of frequency and length, halved for each month that the
/// message is older than another. The share of a word's rarity is left out: it weighs the words of one query against each
/// other, and here every hit holds all of them.
struct SearchRank {
  /// How soon more of the same word counts for less.
  private static let saturation = 1.2
  /// How much a text's length counts, from 0 to 1.
  private static let lengthShare = 0.75
  /// The usual length of a message, in words.
  private static let defaultLength = 12.0
  /// The time in which a message loses half of its weight: 30 days.
  private static let halfLifeMilliseconds = 30.0 * 24 * 60 * 60 * 1000
  /// Kept as an integer, in parts of a doubling, so that a cursor holds it exactly.
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
