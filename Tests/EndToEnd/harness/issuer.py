"""A local token issuer with its own keys, a JWK set over HTTP, and valid and invalid tokens."""

import base64
import http.server
import json
import threading
import time
from dataclasses import dataclass, field

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

AUDIENCE = "app.example"


def number(value: int) -> str:
    data = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@dataclass
class Key:
    """A key pair. If `kid` is None, the published key has no `kid`."""

    algorithm: str
    kid: str | None = None
    private: object = field(default=None, repr=False)

    def __post_init__(self):
        if self.private is None:
            self.private = {
                "RS256": lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048),
                "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
                "EdDSA": ed25519.Ed25519PrivateKey.generate,
            }[self.algorithm]()

    @property
    def jwk(self) -> dict:
        public = self.private.public_key()
        if self.algorithm == "RS256":
            numbers = public.public_numbers()
            body = {"kty": "RSA", "n": number(numbers.n), "e": number(numbers.e)}
        elif self.algorithm == "ES256":
            numbers = public.public_numbers()
            body = {"kty": "EC", "crv": "P-256"}
            for name, value in (("x", numbers.x), ("y", numbers.y)):
                body[name] = base64.urlsafe_b64encode(value.to_bytes(32, "big")).rstrip(b"=").decode()
        else:
            raw = public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
            body = {"kty": "OKP", "crv": "Ed25519", "x": base64.urlsafe_b64encode(raw).rstrip(b"=").decode()}
        return body | {"use": "sig", "alg": self.algorithm} | ({"kid": self.kid} if self.kid else {})

    @property
    def public_pem(self) -> bytes:
        return self.private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )


class Issuer:
    """Publishes `keys`, counts the requests for them and keeps the traces that they belong to. Set `status` to make it respond with an error or a
    redirect."""

    def __init__(self, *keys: Key, cache_control: str | None = None):
        self.keys = list(keys)
        self.cache_control = cache_control
        self.status = 200
        self.body: bytes | None = None
        self.fetches = 0
        self.traces: list[str | None] = []
        issuer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                issuer.fetches += 1
                issuer.traces.append(self.headers["traceparent"])
                body = issuer.body
                if body is None:
                    # An unsupported key. It must not prevent the use of the other keys.
                    odd = {"kty": "oct", "kid": "odd", "k": "c2VjcmV0"}
                    body = json.dumps({"keys": [odd, *(key.jwk for key in issuer.keys)]}).encode()
                if issuer.status < 100:
                    self.wfile.write(f"HTTP/1.1 {issuer.status:03} Invalid\r\nContent-Length: 0\r\n\r\n".encode())
                    return
                self.send_response(issuer.status)
                if issuer.status == 302:
                    self.send_header("Location", "/elsewhere")
                if issuer.cache_control:
                    self.send_header("Cache-Control", issuer.cache_control)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body)
                except ConnectionError:
                    pass

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def settings(self, **changes) -> dict:
        """The settings with which an operator configures this issuer."""
        return {"issuer": self.url, "audiences": [AUDIENCE, "second.example"], "jwks": f"{self.url}/keys"} | changes

    def claims(self, subject: str, **changes) -> dict:
        now = int(time.time())
        claims = {"iss": self.url, "sub": subject, "aud": AUDIENCE, "iat": now, "exp": now + 600} | changes
        return {name: value for name, value in claims.items() if value is not None}

    def token(self, subject: str, key: Key | None = None, headers: dict | None = None, **changes) -> str:
        """A token signed with `key`, or with the first key. A claim that is None is omitted."""
        key = key or self.keys[0]
        return jwt.encode(
            self.claims(subject, **changes), key.private, algorithm=key.algorithm,
            headers=({"kid": key.kid} if key.kid else {}) | (headers or {}),
        )


def unsigned(header: dict, claims: dict, signature: bytes = b"") -> str:
    """A token assembled by hand."""
    parts = [json.dumps(header).encode(), json.dumps(claims).encode(), signature]
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)
