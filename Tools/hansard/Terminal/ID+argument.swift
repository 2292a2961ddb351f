import ArgumentParser
import ChatPrimitives

extension ID {
  /// Parses an ID on a command line.
  /// - Parameter option: its name; nil for an argument without one.
  init(argument text: String, of option: String? = nil) throws {
    guard let id = Self(text) else {
      throw ValidationError("\(option.map { "\($0) " } ?? "")\(text) is not a UUID.")
    }
    self = id
  }
}
