import Foundation

/// The system's message for the error number of a failed call.
enum SystemError {
  static func text(_ number: Int32) -> String {
    String(cString: strerror(number))
  }
}
