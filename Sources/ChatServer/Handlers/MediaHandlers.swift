import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import HTTPTypes
import Hummingbird
import MediaFiles

struct MediaHandlers: Sendable {
  let chat: ChatService
  let reads: ReadSlots
  /// Limits the uploads of each address, whose users could otherwise take all slots together. `MediaStore` limits the
  /// uploads of each user and of the server.
  private let uploads = KeyedLimit<NetworkAddress>(Limits.uploadsOfAddress)

  /// The body is the file, or a form with the file. Any other declared type is ignored.
  func upload(
    _ context: HansardRequestContext, _ body: TypedBody<FileBytes>
  ) async throws -> TypedResponse<UploadedMedia> {
    let actor = try context.actor
    let form = try context.uploadForm()
    let name = try context.query("name")
    // How many bytes of a form are the file is not known before it ends.
    try await chat.checkUpload(bytes: form == nil ? context.announcedBytes : nil, name: name, by: actor)
    // Reserved last, so that a request that is rejected holds no slot.
    let reservation = try reserveUpload(for: context)
    defer { withExtendedLifetime(reservation) {} }
    let upload: Upload
    if let form {
      let file = UploadForm(form, in: body.bytes())
      let nameInForm = try await file.open()
      upload = try await chat.upload(file, name: name ?? nameInForm, by: actor)
    } else {
      upload = try await chat.upload(body.bytes(), name: name, by: actor)
    }
    return try JSONBody.receipt(
      upload.isNew ? .created(.media(upload.row.id)) : .repeated, UploadedMedia(upload.row))
  }

  /// - Returns: nil for a service, which uploads for many users, and if the address is not known.
  private func reserveUpload(for context: HansardRequestContext) throws -> KeyedLimit<NetworkAddress>.Reservation? {
    guard try context.actor.service == nil, let address = context.address else { return nil }
    guard let reservation = uploads.reserve(for: address.network) else { throw Refusal.tooManyUploadsOfAddress }
    return reservation
  }

  /// Signed URLs for files that the caller can see. Nothing is recorded.
  func sign(
    _ context: HansardRequestContext, _ body: TypedBody<SignMediaRequest>
  ) async throws -> TypedResponse<SignedMediaList> {
    let files = try await body.decoded().files.map(\.body)
    guard (1...Limits.signedFiles).contains(files.count) else {
      throw Refusal.invalidField("files must have 1 to \(Limits.signedFiles) elements.", at: "/files")
    }
    for (index, file) in files.enumerated() where file.width.map({ !$0.isThumbnailWidth }) ?? false {
      throw Refusal.invalidField(
        "width must be a number from 1 to \(Limits.thumbnailWidestWidth).", at: "/files/\(index)/width")
    }
    return try await .read(context, in: reads) { try await signed(files.map { ($0.mediaId, $0.width) }, context) }
  }

  private func signed(
    _ files: [(MediaID, Int?)], _ context: HansardRequestContext
  ) async throws -> TypedResponse<SignedMediaList> {
    let grants = try await chat.mediaGrants(for: files, to: context.actor)
    let signatures = chat.mediaSignatures
    return try JSONBody.response(
      SignedMediaList(
        urls: grants.map { grant in
          SignedMedia(
            mediaId: grant.media, width: grant.width, url: grant.url(signatures.signature(for: grant)),
            expiresAt: grant.expiresAt)
        }))
  }

  func get(_ context: HansardRequestContext) async throws -> TypedResponse<FileBytes> {
    let (row, file) = try await chat.media(context.id("mediaId"), for: context.actor.user)
    let tag = EntityTag.strong(row.sha256)
    var headers = MediaHeaders.common(tag, validSeconds: context.signedSecondsLeft)
    headers[.acceptRanges] = "bytes"
    let request = context.request.headers
    if tag.isNamed(in: request[.ifNoneMatch]) {
      return TypedResponse(raw: Response(status: .notModified, headers: headers))
    }
    headers[.contentType] = row.content.contentType
    headers[.contentDisposition] = MediaHeaders.disposition(of: row.content.contentType, name: row.name)
    switch ByteRange(tag.admitsRange(request[.ifRange]) ? request[.range] : nil, size: file.size) {
    case .whole:
      return TypedResponse(raw: Response(status: .ok, headers: headers, body: context.body(file, 0..<file.size)))
    case .part(let range):
      headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.size)"
      return TypedResponse(
        raw: Response(status: .partialContent, headers: headers, body: context.body(file, range)))
    case .unsatisfiable:
      throw Refusal.rangeNotSatisfiable(size: file.size)
    }
  }

  func thumbnail(_ context: HansardRequestContext) async throws -> TypedResponse<FileBytes> {
    let width = try context.request.uri.thumbnailWidth()
    let (id, user) = (try context.id("mediaId", as: MediaID.self), try context.actor.user)
    let (row, thumbnail) = try await chat.thumbnail(of: id, width: width, for: user)
    // The tag is weak, because another version of the thumbnail program may produce other bytes.
    let tag = EntityTag.weak("\(row.sha256)-\(thumbnail.width)")
    var headers = MediaHeaders.common(tag, validSeconds: context.signedSecondsLeft)
    if tag.isNamed(in: context.request.headers[.ifNoneMatch]) {
      return TypedResponse(raw: Response(status: .notModified, headers: headers))
    }
    headers[.contentType] = thumbnail.contentType
    return TypedResponse(
      raw: Response(status: .ok, headers: headers, body: context.body(thumbnail.file, 0..<thumbnail.file.size)))
  }
}

extension HansardRequestContext {
  /// The form that the headers announce; nil if the body is the file itself.
  fileprivate func uploadForm() throws -> MultipartForm? {
    guard let type = request.headers[.contentType] else { return nil }
    do throws(MultipartForm.Flaw) {
      return try MultipartForm(contentType: type)
    } catch {
      throw Refusal.invalidForm(error.rule)
    }
  }

  /// The bytes of a file. Each piece is read when the client has taken the previous one, and the file stays open until
  /// the client has taken the last.
  fileprivate func body(_ file: StoredFile, _ range: Range<Int>) -> ResponseBody {
    ResponseBody(contentLength: range.count) { [channel] writer in
      try await file.read(range) { piece in
        try await writer.write(piece)
        try await channel.untilWritable()
      }
      try await writer.finish(nil)
    }
  }

  /// How long the signed URL of the request is still valid, in whole seconds; nil if the request has a token instead.
  fileprivate var signedSecondsLeft: Int64? {
    guard let caller, caller.hasSignedURL, let expiresAt = caller.expiresAt else { return nil }
    return max(0, (expiresAt.milliseconds - receivedAt.milliseconds) / 1000)
  }
}

extension Int {
  fileprivate var isThumbnailWidth: Bool { (1...Limits.thumbnailWidestWidth).contains(self) }
}

extension MediaGrant {
  /// Relative to the server's address. The signature has only characters that need no encoding.
  fileprivate func url(_ signature: String) -> String {
    guard let width else { return "/v1/media/\(media)?signature=\(signature)" }
    return "/v1/media/\(media)/thumbnail?width=\(width)&signature=\(signature)"
  }
}

extension MediaRow {
  fileprivate var sha256: String { ContentHash(content.hash)?.hex ?? "" }
}

extension UploadedMedia {
  fileprivate init(_ row: MediaRow) {
    self.init(
      id: row.id, contentType: row.content.contentType, size: Int(clamping: row.content.size),
      width: row.content.width.map { Int($0) }, height: row.content.height.map { Int($0) }, name: row.name,
      sha256: row.sha256, uploadedAt: row.uploaded.time, position: row.uploaded.position)
  }
}
