import Configuration
import Foundation
import Testing

@testable import hansard

@Suite struct SettingReaderTests {
  private func file(_ text: String) throws -> SettingSource { try .file("/etc/h.json", Data(text.utf8)) }

  private func read(_ sources: SettingSource...) -> (settings: ServeSettings, problems: [String]) {
    let (settings, problems) = ServeSettings.readAll(sources)
    return (settings, problems.map(\.description))
  }

  @Test("options go before the environment, and that before the file")
  func precedence() throws {
    let file = try file(#"{"data": "f", "listen": "f:1", "accessTokenLifetime": 1}"#)
    let environment = SettingSource.environment(["HANSARD_LISTEN": "e:2", "HANSARD_ACCESS_TOKEN_LIFETIME": "2"])
    let (settings, problems) = read(.commandLine(["accessTokenLifetime": .int(3)]), environment, file)
    #expect(problems.isEmpty)
    #expect(settings.data == "f")
    #expect(settings.listen.description == "e:2")
    #expect(settings.accessTokenLifetimeSeconds == 3)
  }

  @Test("without settings, the defaults apply")
  func defaults() {
    let (settings, problems) = read()
    #expect(problems.isEmpty)
    #expect(settings.data == "./hansard-data")
    #expect(settings.listen == .default)
    #expect(settings.accessTokenLifetimeSeconds == 900)
    #expect(settings.push.webhook == nil)
  }

  @Test("an empty variable is none")
  func emptyVariable() {
    #expect(read(.environment(["HANSARD_PUSH_FILE": ""])).settings.push.file == nil)
  }

  @Test(
    "an unknown key is named",
    arguments: [
      (#"{"lisen": "x:1"}"#, "lisen"), (#"{"push": {"webhok": "x"}}"#, "push.webhok"), (#"{"pusch": {}}"#, "pusch"),
      (#"{"push": "x"}"#, "push"), (#"{"listen": {"host": "x"}}"#, "listen.host"),
    ])
  func unknown(text: String, key: String) throws {
    #expect(
      try read(file(text)).problems == [
        "hansard: unknown setting \(key). it is in /etc/h.json. correct or remove it; `hansard settings` lists all settings"
      ])
  }

  @Test("a wrong value is named with its source and the allowed values")
  func wrongValue() throws {
    let inFile = try read(file(#"{"accessTokenLifetime": 0, "listen": "nowhere"}"#)).problems
    #expect(
      inFile == [
        "hansard: the setting listen in /etc/h.json cannot be used. \"nowhere\" is not HOST:PORT, such as 127.0.0.1:8080. write HOST:PORT, such as 127.0.0.1:8080",
        "hansard: the setting accessTokenLifetime in /etc/h.json cannot be used. 0 is not in the range 1 to 31536000. write a number in this range",
      ])
    let variable = read(.environment(["HANSARD_ACCESS_TOKEN_LIFETIME": "long"])).problems
    #expect(
      variable == ["hansard: the setting HANSARD_ACCESS_TOKEN_LIFETIME cannot be used. it is not a whole number"])
    let option = read(.commandLine(["accessTokenLifetime": .int(31_536_001)])).problems
    #expect(option.count == 1 && option.first?.contains("the setting --access-token-lifetime cannot") == true)
  }

  @Test("a value that is right at its bounds is taken", arguments: [1, 31_536_000])
  func bounds(seconds: Int) {
    let (settings, problems) = read(.commandLine(["accessTokenLifetime": .int(seconds)]))
    #expect(problems.isEmpty && settings.accessTokenLifetimeSeconds == seconds)
  }

  @Test("a file that is no JSON object is refused", arguments: ["", "{", "[]", "1", #"{"a": [{}]}"#])
  func malformed(text: String) {
    #expect(throws: ToolError.self) { try file(text) }
  }

  @Test("groups that an operator names are found, and NAME stands for them in the list")
  func namedGroups() throws {
    func issuers(_ reader: inout SettingReader) -> [String: String] {
      var found: [String: String] = [:]
      for name in reader.names(under: "oidc") { found[name] = reader.text("oidc.\(name).issuer", "who signs") }
      return found
    }
    var reader = SettingReader([try file(#"{"oidc": {"b": {"issuer": "B"}, "a": {"issuer": "A", "isuer": "x"}}}"#)])
    #expect(issuers(&reader) == ["a": "A", "b": "B"])
    reader.noteUnknownKeys()
    #expect(reader.problems.count == 1 && reader.problems.first?.what == "unknown setting oidc.a.isuer")
    #expect(SettingReader.settings { _ = issuers(&$0) }.map(\.key) == ["oidc.NAME.issuer"])
  }

  @Test("keys and variables are unique, and each has a meaning")
  func unique() {
    let all = ServeSettings.all
    #expect(Set(all.map(\.key)).count == all.count)
    #expect(Set(all.map(\.environmentName)).count == all.count)
    #expect(all.allSatisfy { !$0.meaning.isEmpty && $0.environmentName.hasPrefix(SettingSource.environmentPrefix) })
  }
}
