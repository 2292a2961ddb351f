import ChatDomain
import ChatPrimitives
import GRDB

/// The index of the texts in one range of positions: a contentless FTS5 table, which only stores, for each word, the
/// positions of the indexed texts with that word.
///
/// SQLite 3.40 cannot remove a word from the file of an FTS5 table (its `secure-delete` was added in 3.42). So nothing
/// is ever deleted from a shard. An erased text is no longer found, because the text of every candidate is checked, and
/// the whole shard is soon rebuilt from the remaining texts. The size of a shard limits the cost of that.
struct SearchShard {
  /// The number of positions that a shard covers.
  static let span: UInt64 = 1 << 16
  /// How much FTS5 collects in memory before it writes a segment, in bytes. It is more than a shard ever needs.
  private static let gatheredBytes = 256 * 1024 * 1024
  /// How many segments of one size are merged at once.
  private static let mergedSegments = 16

  let number: UInt64

  init(number: UInt64) {
    self.number = number
  }

  init(of position: LogPosition) {
    number = position.value / Self.span
  }

  /// The shard whose words are in this table; nil if it is another kind of table.
  init?(termTable table: String) {
    guard table.hasPrefix(Self.termPrefix), let number = UInt64(table.dropFirst(Self.termPrefix.count)) else {
      return nil
    }
    self.number = number
  }

  var positions: ClosedRange<UInt64> { number * Self.span...number * Self.span + (Self.span - 1) }

  // MARK: - Names

  var table: String { Self.prefix + String(number) }
  private var termTable: String { Self.termPrefix + String(number) }

  private static let prefix = "text_"
  private static let termPrefix = "term_"

  static func isOwn(_ table: String) -> Bool { table.hasPrefix(prefix) || table.hasPrefix(termPrefix) }

  /// The existing shards, ordered by number.
  static func all(_ database: Database) throws -> [SearchShard] {
    try CachedStatement(database, "SELECT number FROM shard ORDER BY number").all {
      SearchShard(number: try $0.unsigned())
    }
  }

  // MARK: - Creation and rebuild

  /// `detail=none`, because the positions of a word within a text are not needed: a candidate's text is checked itself.
  /// `prefix='1'` adds a list for each first character; without it, FTS5 merges the lists of all words that begin with
  /// that character.
  func create(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE VIRTUAL TABLE \(table) USING fts5(
          document, content='', columnsize=0, detail=none, prefix='1', tokenize='\(SearchTokenizer.name)');
        CREATE VIRTUAL TABLE \(termTable) USING fts5vocab(\(table), instance);
        """)
    try configure("hashsize", Self.gatheredBytes, database)
    try configure("automerge", Self.mergedSegments, database)
    try configure("crisismerge", Self.mergedSegments, database)
  }

  private func configure(_ name: String, _ value: Int, _ database: Database) throws {
    try CachedStatement(database, "INSERT INTO \(table) (\(table), rank) VALUES (?, ?)").run(name, value)
  }

  /// Call this when no more indexed texts are added. Merges the segments of many batches into one, because a search
  /// reads all of them.
  func seal(_ database: Database) throws {
    try command("optimize", database)
  }

  /// Adds all indexed texts of its positions that are not erased.
  func fill(_ database: Database) throws {
    let insertion = try insertion(database)
    var document = SearchDocument()
    try CachedStatement(
      database,
      "SELECT \(IndexedText.columns) FROM wording WHERE position BETWEEN ? AND ? AND isGone = 0 ORDER BY position"
    ).forEach(positions.lowerBound, positions.upperBound) { row in
      let indexedText = try IndexedText(&row)
      guard !indexedText.isEmpty else { return }
      document.set(indexedText)
      try Self.insert(document, at: indexedText.position, insertion)
    }
  }

  /// Rebuilds the shard without erased texts. The pages of the old content are overwritten with zeros.
  func rewrite(_ database: Database) throws {
    try command("delete-all", database)
    try fill(database)
  }

  private func command(_ name: String, _ database: Database) throws {
    try CachedStatement(database, "INSERT INTO \(table) (\(table)) VALUES (?)").run(name)
  }

  // MARK: - Writing

  func insertion(_ database: Database) throws -> CachedStatement {
    try CachedStatement(database, "INSERT INTO \(table) (rowid, document) VALUES (?, ?)")
  }

  static func insert(
    _ document: SearchDocument, at position: LogPosition, _ insertion: CachedStatement
  ) throws {
    try insertion.run(position, UTF8Text(bytes: document.bytes))
  }
}

extension SearchShard {
  /// Notes that the shard still contains words of erased texts and has to be rebuilt.
  func noteStale(_ database: Database) throws {
    try CachedStatement(database, "INSERT OR IGNORE INTO erasure (shard) VALUES (?)").run(number)
  }
}

extension IndexedText {
  /// Overwrites the text, the sender and the type of an indexed text in place.
  /// - Returns: whether there was such an indexed text.
  static func erase(at position: LogPosition, _ database: Database) throws -> Bool {
    try CachedStatement(
      database,
      """
      UPDATE wording SET isGone = 1, sender = zeroblob(length(sender)), type = zeroblob(length(type)),
        text = zeroblob(length(text)), extra = zeroblob(length(extra))
      WHERE position = ? AND isGone = 0
      """
    ).run(position) > 0
  }

  static let columns = "position, room, thread, ordinal, sender, sentAt, hasMedia, type, nameBytes, text, extra"

  /// Reads a row with the columns `columns`.
  /// - Returns: nil if `isWanted` returns false. It is called before the text is read.
  init?(_ row: inout RowReader, if isWanted: (IndexedText) throws -> Bool) throws {
    self = try IndexedText(withoutText: &row)
    guard try isWanted(self) else { return nil }
    (text, extra) = try (row.bytes(), row.bytes())
  }

  /// Reads a row with the columns `columns`.
  init(_ row: inout RowReader) throws {
    self = try IndexedText(withoutText: &row)
    (text, extra) = try (row.bytes(), row.bytes())
  }

  private init(withoutText row: inout RowReader) throws {
    let (position, room) = try (row.position(), row.number())
    let location = MessageLocation(thread: try row.unsigned(), ordinal: try row.unsigned())
    let (sender, sentAt) = try (row.id(UserID.self), row.time())
    let hasMedia = try row.number() != 0
    let type = TypeHash(stored: try row.bytes())
    self.init(
      position: position, room: room, location: location, sender: sender, sentAt: sentAt, hasMedia: hasMedia,
      type: type, nameBytes: try row.narrow(), text: [], extra: [])
  }
}
