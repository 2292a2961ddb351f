import ChatDomain
import ChatPrimitives
package import Foundation

/// Why a file of templates cannot be used.
package struct PushTemplatesError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, after the path to the member of the file.
  package let description: String
  /// What to do.
  package let next: String
}

extension PushTemplates {
  /// - Parameter json: the content of the file of `push.templatesFile`.
  package init(json: Data) throws(PushTemplatesError) {
    self.init()
    guard json.count <= Self.maximumFileBytes else {
      throw PushTemplatesError(
        description: "the file has \(json.count) bytes; the maximum is \(Self.maximumFileBytes)", next: "shorten it")
    }
    for (name, value) in try Self.file(json).members() {
      switch name {
      case "types": types = try Self.types(value)
      case "kinds": kinds = try Self.kinds(value)
      default: throw value.error("is not known", next: "write types or kinds")
      }
    }
  }

  private static func file(_ json: Data) throws(PushTemplatesError) -> Member {
    do {
      return Member(path: "", value: try JSONSerialization.jsonObject(with: json))
    } catch {
      let reason = (error as NSError).userInfo["NSDebugDescription"] as? String ?? String(describing: error)
      throw PushTemplatesError(description: "the file is not JSON: \(reason)", next: "correct the JSON")
    }
  }

  private static func types(_ group: Member) throws(PushTemplatesError) -> [String: AlertTemplates] {
    let members = try group.members()
    guard members.count <= maximumTypes else {
      throw group.error("has \(members.count) types; the maximum is \(maximumTypes)", next: "remove some")
    }
    var types: [String: AlertTemplates] = [:]
    for (type, member) in members {
      guard (1...Limits.customTypeBytes).contains(type.utf8.count) else {
        throw member.error(
          "is not a type of a message", next: "write a type of 1 to \(Limits.customTypeBytes) bytes")
      }
      let templates = try templates(member)
      guard templates.fallback != nil else {
        throw member.error("has no default", next: "add default, for devices whose language has no entry")
      }
      types[type] = templates
    }
    return types
  }

  private static func kinds(_ group: Member) throws(PushTemplatesError) -> [AlertKind: AlertTemplates] {
    var kinds: [AlertKind: AlertTemplates] = [:]
    for (name, member) in try group.members() {
      guard let kind = AlertKind.allCases.first(where: { $0.name == name }) else {
        throw member.error(
          "is not a kind", next: "write one of " + AlertKind.allCases.map(\.name).joined(separator: ", "))
      }
      kinds[kind] = try templates(member)
    }
    return kinds
  }

  private static func templates(_ group: Member) throws(PushTemplatesError) -> AlertTemplates {
    let members = try group.members()
    guard members.count <= maximumLanguages else {
      throw group.error("has \(members.count) languages; the maximum is \(maximumLanguages)", next: "remove some")
    }
    var templates = AlertTemplates()
    for (language, member) in members {
      let template = try template(member)
      if language == "default" {
        templates.fallback = template
        continue
      }
      guard (try? TextRules.languageTag(language)) != nil else {
        throw member.error("is not a language tag", next: "write a tag such as de or pt-BR, or default")
      }
      guard templates.languages.updateValue(template, forKey: language.lowercased()) == nil else {
        throw member.error("is there twice, because case does not matter in language tags", next: "remove one")
      }
    }
    return templates
  }

  private static func template(_ member: Member) throws(PushTemplatesError) -> AlertTemplate {
    var texts: [String: PushTemplate] = [:]
    for (name, text) in try member.members() {
      guard name == "title" || name == "body" else { throw text.error("is not known", next: "write title or body") }
      texts[name] = try text.template()
    }
    guard let title = texts["title"] else { throw member.error("has no title", next: "add title") }
    guard let body = texts["body"] else { throw member.error("has no body", next: "add body") }
    return AlertTemplate(title: title, body: body)
  }
}

/// A value in the file, with the path to it for error messages.
private struct Member {
  /// How much of a name an error message shows, in bytes of UTF-8.
  private static let shownNameBytes = 128

  /// Empty for the whole file.
  let path: String
  let value: Any

  func error(_ problem: String, next: String) -> PushTemplatesError {
    PushTemplatesError(description: "\(path.isEmpty ? "the file" : path) \(problem)", next: next)
  }

  /// The members of the object, in the order of their names, so that the same file always has the same first error.
  func members() throws(PushTemplatesError) -> [(name: String, member: Member)] {
    guard let members = value as? [String: Any] else { throw error("is not an object", next: "write a JSON object") }
    return members.sorted { $0.key < $1.key }.map { ($0.key, Member(path: path(to: $0.key), value: $0.value)) }
  }

  func template() throws(PushTemplatesError) -> PushTemplate {
    guard let text = value as? String else { throw error("is not a text", next: "write a text") }
    do {
      return try PushTemplate(text)
    } catch {
      throw self.error(error.description, next: error.next)
    }
  }

  /// A name with other characters than letters, digits, `-` and `_` is in quotes.
  private func path(to name: String) -> String {
    let isPlain = name.utf8.allSatisfy { TextRules.isLetter($0) || TextRules.isDigit($0) || "-_".utf8.contains($0) }
    let shown = name.beginning(ofBytes: Self.shownNameBytes)
    let quoted = isPlain && !name.isEmpty ? shown : "\"\(shown)\""
    return path.isEmpty ? quoted : "\(path).\(quoted)"
  }
}
