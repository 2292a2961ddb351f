import ChatDomain
import ChatPrimitives
import EventLog
import Foundation
import SwiftProtobuf

extension UserEvent.Logins: KindFamily {
  static let kinds = [credentialSetKind, identityLinkedKind, identityUnlinkedKind]

  var kind: Kind<Self> {
    switch self {
    case .credentialSet: Self.credentialSetKind
    case .identityLinked: Self.identityLinkedKind
    case .identityUnlinked: Self.identityUnlinkedKind
    }
  }

  private static let credentialSetKind = Kind<Self>(
    3, "credential.set", .secret,
    write: { event, output in
      guard case .credentialSet(let credential) = event else { return }
      output.write(
        Hansard_V1_CredentialSet.with { $0.credential = .with(credential) },
        shows: [("version", .number(UInt64(credential.version)))])
    },
    read: { (body: Hansard_V1_CredentialSet, reader) in .credentialSet(try reader.credential(body.credential)) })

  private static let identityLinkedKind = Kind<Self>(
    4, "identity.linked", .secret,
    write: { event, output in
      guard case .identityLinked(let identity) = event else { return }
      output.write(Hansard_V1_IdentityLinked.with(identity), shows: [("issuer", .text(identity.issuer))])
    },
    read: { (body: Hansard_V1_IdentityLinked, _) in
      .identityLinked(Identity(issuer: body.issuer, subject: body.subject))
    })

  /// The subject is the position of the record that linked the identity, so that an erasure does not restore the login.
  private static let identityUnlinkedKind = Kind<Self>(
    9, "identity.unlinked", .secret,
    write: { event, output in
      guard case .identityUnlinked(let identity, let linked) = event else { return }
      output.write(
        subject: UUIDBytes(high: 0, low: linked.value), identity.map { Hansard_V1_IdentityLinked.with($0) },
        shows: identity.map { [("issuer", .text($0.issuer)), ("linkedAt", .number(linked.value))] }
          ?? EventOutput.erased)
    },
    readErasable: { (body: Hansard_V1_IdentityLinked?, reader) in
      guard let linked = reader.record.envelope.subject else { throw reader.failure(.missingField, "subject") }
      return .identityUnlinked(
        body.map { Identity(issuer: $0.issuer, subject: $0.subject) }, linked: LogPosition(linked.low))
    })
}

extension Hansard_V1_IdentityLinked {
  fileprivate static func with(_ identity: Identity) -> Self {
    .with {
      $0.issuer = identity.issuer
      $0.subject = identity.subject
    }
  }
}

extension Hansard_V1_Credential {
  static func with(_ credential: Credential) -> Self {
    .with {
      $0.version = credential.version
      $0.hash = Data(credential.hash)
      $0.logRounds = UInt32(credential.logRounds)
      $0.blockSize = UInt32(credential.blockSize)
      $0.parallelism = UInt32(credential.parallelism)
    }
  }
}

extension PayloadReader {
  func credential(_ body: Hansard_V1_Credential) throws(CodecError) -> Credential {
    Credential(
      version: body.version, hash: Array(body.hash), logRounds: try byte(body.logRounds),
      blockSize: try byte(body.blockSize), parallelism: try byte(body.parallelism))
  }
}
