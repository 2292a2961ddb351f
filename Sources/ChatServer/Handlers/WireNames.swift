import ChatProtocol

// In this module these names mean the wire's types, not the domain's.
typealias User = ChatProtocol.User
typealias Session = ChatProtocol.Session
typealias Device = ChatProtocol.Device
typealias Room = ChatProtocol.Room
typealias Member = ChatProtocol.Member
typealias Invite = ChatProtocol.Invite
typealias ReadPoint = ChatProtocol.ReadPoint
typealias Workspace = ChatProtocol.Workspace
typealias WorkspaceMember = ChatProtocol.WorkspaceMember
typealias WorkspaceInvite = ChatProtocol.WorkspaceInvite
typealias Invitation = ChatProtocol.Invitation
typealias MembershipChange = ChatProtocol.MembershipChange
