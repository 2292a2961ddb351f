/// How requests are handled.
struct HTTPSettings: Sendable {
  let directPath: Bool

  init(_ reader: inout SettingReader) {
    directPath = reader.flag(
      "http.directPath", default: true,
      "whether plain messages bypass the router, which is faster and otherwise the same; switch it off to find out whether it "
        + "causes a problem")
  }
}
