import ArgumentParser
import ChatProjections
import ChatServer
import EventLog
import EventStore
import MediaFiles

/// The error of a tool: what failed, why, and what to do next.
struct ToolError: Error, CustomStringConvertible {
  let what: String
  /// Nil if `what` says everything.
  let reason: String?
  let next: String?
  let exit: ToolExit

  /// The parts are given without a full stop at the end.
  init(_ what: String, because reason: String? = nil, next: String? = nil, exit: ToolExit = .failed) {
    self.what = what
    self.reason = reason
    self.next = next
    self.exit = exit
  }

  /// `hansard: what. why. what to do next`, without control characters.
  var description: String {
    let parts = [what, reason, next].compactMap { $0 }.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 }
    return "hansard: " + TextColumns.visible(parts.joined(separator: ". "))
  }
}

extension ToolError {
  /// Converts any error into the form that a tool shows.
  init(_ error: any Error, exit: ToolExit = .failed) {
    switch error {
    case let error as ToolError:
      self.init(error.what, because: error.reason, next: error.next, exit: error.exit)
    case let error as LogError:
      self.init(error.description, exit: exit)
    case let error as CodecError:
      self.init(
        error.description, next: "use the version of hansard that wrote the log, or a newer one", exit: exit)
    case let error as ProjectionError:
      self.init(error.description, exit: exit)
    case let error as DiskError:
      self.init(error.description, exit: exit)
    case MediaError.storageFull:
      self.init("the disk is full", next: "free some space", exit: exit)
    case MediaError.failed(let reason):
      self.init(reason, exit: exit)
    case let error as ListenError:
      self.init("the server cannot listen on \(error.address)", because: error.reason, next: error.next, exit: exit)
    default:
      self.init(String(describing: error), exit: exit)
    }
  }

  /// Runs the body of a command. An error becomes a line on standard error and an exit code. If the reader of the
  /// output closes it, the command ends without an error.
  static func report(_ body: () async throws -> Void) async throws {
    do {
      try await body()
    } catch let error as ExitCode {
      throw error
    } catch let error as ValidationError {
      throw error
    } catch is OutputClosed {
      return
    } catch {
      let shown = ToolError(error)
      Terminal.printError(shown.description + "\n")
      throw ExitCode(shown.exit.rawValue)
    }
  }
}
