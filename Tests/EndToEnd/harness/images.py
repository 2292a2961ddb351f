"""Images of every kind for which the server makes thumbnails, and some for which it must not make any."""

import io
import os
import struct
import zlib

from PIL import Image, ImageCms

SIZE = (1600, 1200)


def photograph(size: tuple[int, int] = SIZE) -> Image.Image:
    """An image with detail. It is the same each time."""
    wide = Image.linear_gradient("L").resize(size)
    high = wide.transpose(Image.Transpose.FLIP_LEFT_RIGHT).rotate(90).resize(size)
    return Image.merge("RGB", (wide, high, Image.radial_gradient("L").resize(size)))


def encoded(kind: str, image: Image.Image | None = None, **options) -> bytes:
    """The image as a file. `kind` is a format name of Pillow."""
    image = image or photograph()
    target = io.BytesIO()
    (image.convert("P") if kind == "GIF" else image).save(target, kind, **options)
    return target.getvalue()


def with_camera_notes(kind: str, image: Image.Image | None = None) -> bytes:
    """An image with the EXIF data of a camera that lay on its side: orientation, camera maker and part of a GPS
    location."""
    notes = Image.Exif()
    notes[0x0112] = 6  # Orientation: turn by 90 degrees to show it.
    notes[0x010F] = "SecretCameraMaker"
    notes.get_ifd(0x8825)[1] = "N"
    return encoded(kind, image, exif=notes)


def swapping_profile() -> bytes:
    """The sRGB colour profile with red and green exchanged."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    # The tag table (ICC.1:2022, section 7.3): the number of tags, then for each a name, an offset and a length.
    entries = range(132, 132 + 12 * struct.unpack_from(">I", profile, 128)[0], 12)
    red, green = (
        next(entry for entry in entries if profile[entry : entry + 4] == name) for name in (b"rXYZ", b"gXYZ")
    )
    at_red = profile[red + 4 : red + 12]
    profile[red + 4 : red + 12] = profile[green + 4 : green + 12]
    profile[green + 4 : green + 12] = at_red
    return bytes(profile)


def chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png_bomb(width: int, height: int) -> bytes:
    """A small file with a huge black image: it takes three bytes per pixel when it is decoded."""
    compressor = zlib.compressobj(9)
    row = b"\0" + bytes(3 * width)
    rows = b"".join(compressor.compress(row) for _ in range(height)) + compressor.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def animated_webp(frames: int, note: bytes = b"") -> bytes:
    """An animation of the same single pixel. `note`, of even length, makes files differ."""
    def riff(name: bytes, body: bytes) -> bytes:
        return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)

    still = encoded("WEBP", Image.new("RGB", (1, 1), (1, 2, 3)), lossless=True)
    pixel = still[still.index(b"VP8L"):]
    # Three bytes each for X, Y, width less one, height less one and duration, then one byte of blending and disposal
    # flags.
    frame = riff(b"ANMF", bytes(12) + b"\1\0\0\2" + pixel)
    head = riff(b"VP8X", b"\2" + bytes(9)) + riff(b"ANIM", bytes(6))
    return riff(b"RIFF", b"WEBP" + head + frame * frames + riff(b"NOTE", note))


def noise_png(side: int) -> bytes:
    """A square of random pixels, whose thumbnails are large too. Each call gives a different image."""
    return encoded("PNG", Image.frombytes("RGB", (side, side), os.urandom(3 * side * side)), compress_level=1)


def opened(content: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(content))
    image.load()
    return image
