import Foundation

/// The shell commands of a first conversation, which `serve` prints when the data directory is new. The users and the room
/// have IDs of their own.
struct FirstConversation {
  let url: String

  /// They run in bash and zsh, with any curl. They have no comments: zsh, the shell of macOS, does not take them when it is
  /// used interactively.
  var text: String {
    let (alice, bob, room, message, later) = (id(), id(), id(), id(), id())
    let mark = alice.prefix(8)
    return """
      H=\(url)
      call() { curl -sS -X "$1" "$H$2" ${3:+-H} ${3:+"Authorization: Bearer $3"} ${4:+-H} ${4:+"Content-Type: application/json"} ${4:+-d} ${4:+"$4"}; echo; }
      field() { sed "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/"; }
      echo; echo "Register two users and log in:"
      call POST /v1/accounts '' '{"id":"\(alice)","nickname":"Alice","email":"alice-\(mark)@example.org","password":"red kettle on the hob"}'
      call POST /v1/accounts '' '{"id":"\(bob)","nickname":"Bob","email":"bob-\(mark)@example.org","password":"blue kettle on the hob"}'
      ALICE=$(call POST /v1/sessions '' '{"email":"alice-\(mark)@example.org","password":"red kettle on the hob"}' | field accessToken)
      BOB=$(call POST /v1/sessions '' '{"email":"bob-\(mark)@example.org","password":"blue kettle on the hob"}' | field accessToken)
      echo; echo "Alice creates a room and an invite; Bob joins with the invite:"
      call POST /v1/rooms "$ALICE" '{"id":"\(room)","name":"tea"}'
      INVITE=$(call POST /v1/rooms/\(room)/invites "$ALICE" '{"maxUses":1}' | field token)
      call POST "/v1/invites/$INVITE/accept" "$BOB"
      echo; echo "Alice sends a message; Bob has one unread:"
      call PUT /v1/rooms/\(room)/messages/\(message) "$ALICE" '{"text":"The kettle is on."}'
      call GET /v1/badge "$BOB"
      echo; echo "Bob follows for three seconds; Alice sends another message after one:"
      (sleep 1; call PUT /v1/rooms/\(room)/messages/\(later) "$ALICE" '{"text":"Tea is ready."}' >/dev/null) &
      curl -sN -m 3 -H "Authorization: Bearer $BOB" "$H/v1/sync/stream?include=message" || echo
      """
  }

  private func id() -> String { UUID().uuidString.lowercased() }
}
