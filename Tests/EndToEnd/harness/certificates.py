"""Certificates that a test creates for itself."""

import datetime
import ipaddress
import pathlib
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


@dataclass(frozen=True)
class Certificate:
    """PEM files: a certificate, its private key, and the certificate of the authority that signed it."""

    certificate: pathlib.Path
    key: pathlib.Path
    authority: pathlib.Path

    @property
    def environment(self) -> dict[str, str]:
        """The settings with which a server uses the certificate."""
        return {"HANSARD_TLS_CERTIFICATE_FILE": str(self.certificate), "HANSARD_TLS_KEY_FILE": str(self.key)}


class Authority:
    """Signs certificates. Its own certificate is in `file`."""

    def __init__(self, folder: pathlib.Path):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.file = folder / "authority.pem"
        self._key = ec.generate_private_key(ec.SECP256R1())
        own = _sign("test authority", self._key, "test authority", self._key, is_authority=True)
        self.file.write_bytes(own.public_bytes(serialization.Encoding.PEM))

    def certificate(self, name: str = "", *hosts: str) -> Certificate:
        """A certificate for the hosts, or for 127.0.0.1. The names of its files begin with `name`."""
        key = ec.generate_private_key(ec.SECP256R1())
        signed = _sign(name or "127.0.0.1", key, "test authority", self._key, False, hosts or ("127.0.0.1",))
        prefix = f"{name}-" if name else ""
        made = Certificate(self.folder / f"{prefix}certificate.pem", self.folder / f"{prefix}key.pem", self.file)
        made.certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        made.key.write_bytes(private_pem(key))
        return made


def make(folder: pathlib.Path) -> Certificate:
    """A certificate for 127.0.0.1 of an authority of its own."""
    return Authority(folder).certificate()


def private_pem(key) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


def _sign(name: str, key, issuer: str, issuer_key, is_authority: bool, hosts: tuple[str, ...] = ()) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        # Some tests set the server's clock ahead.
        .not_valid_after(now + datetime.timedelta(days=7))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False
        )
    )
    if hosts:
        builder = builder.add_extension(x509.SubjectAlternativeName([_host(host) for host in hosts]), critical=False)
    return builder.sign(issuer_key, hashes.SHA256())


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])
