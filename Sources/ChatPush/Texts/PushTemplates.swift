import ChatDomain

/// An operator's own texts for alerts. They apply to the app's own types of messages, or replace the built-in texts of
/// kinds.
package struct PushTemplates: Sendable, Hashable {
  /// The maximum size of the file, in bytes.
  package static let maximumFileBytes = 256 * 1024
  /// The maximum number of types.
  package static let maximumTypes = 256
  /// The maximum number of languages of one type or kind, `default` included.
  package static let maximumLanguages = 64

  var types: [String: AlertTemplates] = [:]
  var kinds: [AlertKind: AlertTemplates] = [:]

  /// Without templates.
  package init() {}

  /// - Returns: nil if the built-in texts apply.
  func template(type: String?, kind: AlertKind, language: String?) -> AlertTemplate? {
    if kind.showsMessage, let type, let template = types[type]?.template(for: language) { return template }
    return kinds[kind]?.template(for: language)
  }
}

extension AlertKind {
  /// Whether the alert shows a message, so that the app's own type of the message decides the text.
  fileprivate var showsMessage: Bool {
    switch self {
    case .message, .mention, .reply, .reminder: true
    case .reaction, .invitation, .added: false
    }
  }
}

/// The templates of one type or kind.
struct AlertTemplates: Sendable, Hashable {
  /// For languages without an entry; nil if there is none.
  var fallback: AlertTemplate?
  /// By language tag, in lower case.
  var languages: [String: AlertTemplate] = [:]

  /// Selects the language as in RFC 4647, section 3.4: `zh-Hant-TW`, then `zh-Hant`, then `zh`, then the fallback.
  func template(for language: String?) -> AlertTemplate? {
    var tag = language?.lowercased()[...] ?? ""
    while !tag.isEmpty {
      if let template = languages[String(tag)] { return template }
      tag = tag.lastIndex(of: "-").map { tag[..<$0] } ?? ""
      // "Single letter or digit subtags … are removed at the same time as their closest trailing subtag."
      while tag.dropLast().last == "-" { tag = tag.dropLast(2) }
    }
    return fallback
  }
}

struct AlertTemplate: Sendable, Hashable {
  let title: PushTemplate
  let body: PushTemplate
  /// The paths to the members of the app's JSON that it shows.
  let dataPaths: [[String]]

  init(title: PushTemplate, body: PushTemplate) {
    self.title = title
    self.body = body
    dataPaths = title.dataPaths + body.dataPaths
  }
}
