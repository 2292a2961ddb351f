import Foundation

/// The shell commands of a first conversation, which `serve` prints. The IDs are new each time, so the commands can be
/// pasted after every start.
struct FirstConversation {
  let url: String

  var text: String {
    let (alice, bob, room, message, later) = (id(), id(), id(), id(), id())
    let mark = alice.prefix(8)
    return """
      # Register two users and log in.
      H=\(url)
      curl -s --json '{"id":"\(alice)","nickname":"Alice","email":"alice-\(mark)@example.org","password":"red kettle on the hob"}' $H/v1/accounts; echo
      curl -s --json '{"id":"\(bob)","nickname":"Bob","email":"bob-\(mark)@example.org","password":"blue kettle on the hob"}' $H/v1/accounts; echo
      ALICE=$(curl -s --json '{"email":"alice-\(mark)@example.org","password":"red kettle on the hob"}' $H/v1/sessions | sed 's/.*"accessToken":"\\([^"]*\\)".*/\\1/')
      BOB=$(curl -s --json '{"email":"bob-\(mark)@example.org","password":"blue kettle on the hob"}' $H/v1/sessions | sed 's/.*"accessToken":"\\([^"]*\\)".*/\\1/')
      # Alice creates a room and an invite; Bob joins with the invite.
      curl -s -H "Authorization: Bearer $ALICE" --json '{"id":"\(room)","name":"tea"}' $H/v1/rooms; echo
      INVITE=$(curl -s -H "Authorization: Bearer $ALICE" --json '{"maxUses":1}' $H/v1/rooms/\(room)/invites | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
      curl -s -H "Authorization: Bearer $BOB" -X POST $H/v1/invites/$INVITE/accept; echo
      # Alice sends a message; Bob has one unread.
      curl -s -H "Authorization: Bearer $ALICE" -X PUT --json '{"text":"The kettle is on."}' $H/v1/rooms/\(room)/messages/\(message); echo
      curl -s -H "Authorization: Bearer $BOB" $H/v1/badge; echo
      # Bob follows for three seconds; Alice sends another message after one.
      (sleep 1; curl -s -o /dev/null -H "Authorization: Bearer $ALICE" -X PUT --json '{"text":"Tea is ready."}' $H/v1/rooms/\(room)/messages/\(later)) &
      curl -sN -m 3 -H "Authorization: Bearer $BOB" "$H/v1/sync/stream?include=message" || echo
      """
  }

  private func id() -> String { UUID().uuidString.lowercased() }
}
