import ChatPrimitives
import Synchronization

/// Limits how many uploads of one address, or of one /64 of version 6, are under way at once. An address may have many
/// users, who would hold all places together. The limits of a user and of the server are those of `MediaStore`.
final class AddressUploads: Sendable {
  /// Addresses with uploads under way only, so there are no more entries than uploads.
  private let counts = Mutex<[NetworkAddress: Int]>([:])

  /// One upload. Its place is free again when nothing refers to this object any more.
  final class Place: Sendable {
    private let network: NetworkAddress
    private let uploads: AddressUploads

    fileprivate init(of network: NetworkAddress, in uploads: AddressUploads) {
      self.network = network
      self.uploads = uploads
    }

    deinit { uploads.leave(network) }
  }

  /// - Parameter network: as `NetworkAddress.network` gives it.
  func enter(_ network: NetworkAddress) throws(Refusal) -> Place {
    let isAdmitted = counts.withLock { counts in
      guard counts[network, default: 0] < Limits.uploadsOfAddress else { return false }
      counts[network, default: 0] += 1
      return true
    }
    guard isAdmitted else { throw .tooManyUploadsOfAddress }
    return Place(of: network, in: self)
  }

  private func leave(_ network: NetworkAddress) {
    counts.withLock { counts in
      guard let count = counts[network] else { return }
      counts[network] = count > 1 ? count - 1 : nil
    }
  }
}
