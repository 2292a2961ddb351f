package import ChatDomain
package import ChatPrimitives
package import EventStore

// Performing a command without a task, for callers on an event loop. It must do what `perform` does.

extension ChatService {
  /// What the writer replies to a submitted command; see `outcome(of:)`.
  package typealias WriterReply = Result<ChatReply, CommitError>

  /// The command of a request that sends a message, with what is known for it.
  /// - Returns: nil if something would have to be read from the disk, if files are attached, or while commands are refused.
  ///   Then `perform` handles the request.
  package func plainCommand(of request: Request) -> ChatCommand? {
    guard case .room(_, .messages(.send(_, let message))) = request.command.operation, message.attachments.isEmpty,
      !writesArePaused
    else { return nil }
    var command = request.command
    guard command.lookup.withoutIDs == Lookup(), let asOf = neverSeen(command.lookup) else { return nil }
    command.knownAsOf = asOf
    return command
  }

  /// Queues a command.
  /// - Parameter completion: called once, on the writer's thread, when everything behind the reply is durable. It must not
  ///   block.
  /// - Throws: if the writer accepts no command. Then `completion` is never called.
  package func submit(
    _ command: ChatCommand, completion: @escaping @Sendable (WriterReply) -> Void
  ) throws(CommitError) {
    try pipeline.submit(command, completion: completion)
  }

  /// Calls `body` on the writer's thread, after all completions of a batch were called. It must not block.
  package func whenReplied(_ body: @escaping @Sendable () -> Void) {
    pipeline.whenReplied(body)
  }

  /// The outcome of a submitted command.
  /// - Returns: nil if it was rejected, has to be looked up again or was not written. In all these cases nothing was recorded.
  package func outcome(of result: WriterReply) -> ChatOutcome? {
    guard case .success(let reply) = result else { return nil }
    return try? take(reply)
  }
}
