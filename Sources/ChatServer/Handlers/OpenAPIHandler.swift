import COpenAPI
import ChatProtocol
import HTTPTypes
import Hummingbird
import NIOCore

/// Serves `docs/openapi.yaml`, which is part of the executable.
struct OpenAPIHandler: Sendable {
  /// All responses share these bytes.
  private static let page = ByteBuffer(
    bytes: UnsafeBufferPointer(start: openapi_yaml(), count: openapi_yaml_length()))

  func document(_ context: HansardRequestContext) -> TypedResponse<OpenAPIDocument> {
    TypedResponse(
      raw: Response(
        status: .ok, headers: [.contentType: "application/yaml"], body: ResponseBody(byteBuffer: Self.page)))
  }
}
