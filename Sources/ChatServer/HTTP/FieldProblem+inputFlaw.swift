import ChatDomain
import ChatProtocol
import ChatService
import HTTPTypes

extension FieldProblem {
  init(_ flaw: InputFlaw) {
    let (code, detail) =
      switch flaw.reason {
      case .rejection(let rejection): (rejection.rawValue, rejection.detail)
      case .input(let input): (input.rawValue, input.detail)
      }
    self.init(field: flaw.field, code: code, detail: detail)
  }

  init(_ flaw: FieldFlaw) {
    self.init(field: flaw.field, code: flaw.rejection.rawValue, detail: flaw.rejection.detail)
  }
}

extension InputFlaw {
  var status: HTTPResponse.Status {
    switch reason {
    case .rejection(let rejection): rejection.status
    case .input(let input): input.status
    }
  }
}
