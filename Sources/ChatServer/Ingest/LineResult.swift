import ChatPrimitives
import HTTPTypes

/// The result of one line.
enum LineResult: Sendable {
  case done(LineEffect, LogPosition)
  case refused(LineRefusal)
}

/// What a line has done. The raw values are in the results that wait to be read.
enum LineEffect: UInt64, Sendable, CaseIterable {
  case created = 0
  case changed = 1
  case repeated = 2

  /// The same as that of a request that does this.
  var status: Int {
    switch self {
    case .created: HTTPResponse.Status.created.code
    case .changed, .repeated: HTTPResponse.Status.ok.code
    }
  }
}

/// Why a line was rejected.
struct LineRefusal: Sendable, Hashable {
  let status: Int
  let code: String
  let detail: String

  /// - Parameter name: the name of the limit.
  static func rateLimited(by name: String) -> LineRefusal {
    LineRefusal(
      status: ProblemCode.rateLimited.status.code, code: ProblemCode.rateLimited.rawValue,
      detail: "The limit \"\(name)\" was reached: each line counts as a request. Send the line again later.")
  }
}

extension LineRefusal {
  init(_ mapping: ProblemMapping) {
    self.init(status: mapping.status.code, code: mapping.code, detail: mapping.detail)
  }

  /// The same refusal with a general detail, for when the unread details take too much memory.
  var withoutDetail: LineRefusal {
    LineRefusal(status: status, code: code, detail: "See docs/errors.md. Read the results sooner to get more details.")
  }
}
