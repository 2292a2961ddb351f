package import ChatPrimitives
package import Crypto
import Foundation
import Glibc

/// All secrets of the server, derived from one 32-byte secret in the key file of the data directory. Back it up
/// together with the log: without it nobody can log in with a password or use an old invite.
package struct ServerKeys: Sendable {
  /// The key file's name in the data directory.
  package static let fileName = "hansard.key"
  static let secretBytes = 32
  private static let fileHeader = "hansard-key-v1"

  private let secret: SymmetricKey

  package init(secret: [UInt8]) {
    self.secret = SymmetricKey(data: secret)
  }

  /// A key for one purpose (HKDF, RFC 5869, with SHA-256).
  package func key(for purpose: String) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(inputKeyMaterial: secret, info: Array(purpose.utf8), outputByteCount: Self.secretBytes)
  }

  /// HMAC-SHA256 over `message` with the key for `purpose`.
  package func authenticationCode(for purpose: String, _ message: [UInt8]) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: message, using: key(for: purpose)))
  }

  /// The service ID that the log has for what the administrator's token does.
  package var administrator: ServiceID {
    let bytes = authenticationCode(for: "administrator-id", []).prefix(UUIDBytes.byteCount)
    return ServiceID(UUIDBytes(bytes: bytes) ?? .zero)
  }
}

// MARK: - The file

extension ServerKeys {
  /// Reads the key file, or creates it if there is none and `mayCreate` is true.
  /// - Parameter log: the identity of the log that the key belongs to. The file contains its HMAC.
  /// - Throws: `KeyFileError`.
  package static func load(directory: String, log: UUIDBytes, mayCreate: Bool) throws(KeyFileError) -> ServerKeys {
    let path = directory + "/" + fileName
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      guard !FileManager.default.fileExists(atPath: path) else { throw KeyFileError(path, "cannot be read") }
      guard mayCreate else {
        throw KeyFileError(
          path, "is missing although the log has events; restore it from the backup, because no other key fits this log"
        )
      }
      return try create(at: path, for: log)
    }
    let parts = text.split(whereSeparator: \.isWhitespace)
    guard parts.count == 3, parts[0] == fileHeader, let secret = Data(base64Encoded: String(parts[1])),
      secret.count == secretBytes
    else { throw KeyFileError(path, "is not a key file of this version; restore it from the backup") }
    let keys = ServerKeys(secret: Array(secret))
    guard parts[2] == keys.mark(of: log) else {
      throw KeyFileError(path, "does not belong to the log \(log.text); restore the key file of this log")
    }
    return keys
  }

  /// What the file contains to identify the log, without revealing the key.
  private func mark(of log: UUIDBytes) -> String {
    Data(authenticationCode(for: "log-identity", log.bytes)).base64EncodedString()
  }

  private static func create(at path: String, for log: UUIDBytes) throws(KeyFileError) -> ServerKeys {
    var generator = SystemRandomNumberGenerator()
    let secret = (0..<secretBytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    let keys = ServerKeys(secret: secret)
    try PrivateFile.write("\(fileHeader) \(Data(secret).base64EncodedString()) \(keys.mark(of: log))\n", to: path)
    return keys
  }
}

/// The key file cannot be used.
package struct KeyFileError: Error, CustomStringConvertible {
  package let path: String
  package let reason: String

  init(_ path: String, _ reason: String) {
    self.path = path
    self.reason = reason
  }

  package var description: String { "key_file_unusable: \(path) \(reason)" }
}

/// Small files that only their owner may read.
package enum PrivateFile {
  /// Writes a new file, syncs it, replaces the old one with it, and syncs the directory. The mode is always 0600.
  package static func write(_ text: String, to path: String) throws(KeyFileError) {
    let temporary = path + ".new"
    unlink(temporary)
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure(path) }
    defer { Glibc.close(descriptor) }
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw failure(path) }
      bytes = bytes.dropFirst(written)
    }
    guard fsync(descriptor) == 0, rename(temporary, path) == 0 else { throw failure(path) }
    try syncDirectory(of: path)
  }

  /// Without this, the new name of the file, though not its content, could be lost in a power failure.
  private static func syncDirectory(of path: String) throws(KeyFileError) {
    let descriptor = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path) }
    defer { Glibc.close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure(path) }
  }

  private static func failure(_ path: String) -> KeyFileError {
    KeyFileError(path, "cannot be written: \(String(cString: strerror(errno)))")
  }
}
