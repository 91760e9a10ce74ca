"""Files of pictures as thumbnails inside a page: read within limits, and never from elsewhere."""

from __future__ import annotations

import base64
import io
import re
from contextlib import suppress
from os import PathLike, fspath
from pathlib import Path
from typing import Any

#: How files of pictures begin, by their type. (WebP is told by what follows, too.)
_MAGIC = {
    "png": b"\x89PNG\r\n\x1a\n",
    "jpeg": b"\xff\xd8\xff",
    "gif": b"GIF8",
    "webp": b"RIFF",
}
#: Bytes of a file that is read, and of one that is shown as it is.
MAX_BYTES, MAX_PLAIN = 30 * 2**20, 100 * 2**10
#: Pixels of a picture that is opened to be scaled, and of the longer side of a thumbnail.
MAX_PIXELS, SIDE = 50_000_000, 192
#: What a thumbnail is: nothing else is ever shown as a picture.
_DATA = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}")


class NoPictureError(ValueError):
    """A file that cannot be shown; the text says why."""


def is_thumbnail(text: str) -> bool:
    """Tell whether text is a picture as :func:`thumbnail` returns it."""
    return _DATA.fullmatch(text) is not None


def thumbnail(path: str, folder: str | PathLike[str] | None = None) -> str:
    """Return a picture as a data URL, scaled down if Pillow is installed.

    Parameters
    ----------
    path : str
        A PNG, JPEG, GIF or WebP file.
    folder : str or path, optional
        Where it is looked for, and outside of which nothing is read; by default the working
        directory, and anywhere if the path says so.

    Returns
    -------
    str
        ``data:image/png;base64,...``

    Raises
    ------
    NoPictureError
        If it cannot be shown.

    Examples
    --------
    >>> from multifacet.files.images import thumbnail
    >>> thumbnail("/etc/shadow.png", folder="pictures")
    Traceback (most recent call last):
    ...
    multifacet.files.images.NoPictureError: '/etc/shadow.png' is outside the folder of the table
    """
    content = _content(path, folder)
    kind = next((kind for kind, begins in _MAGIC.items() if content.startswith(begins)), None)
    if kind is None or (kind == "webp" and content[8:12] != b"WEBP"):
        raise NoPictureError(f"{path!r} is no PNG, JPEG, GIF or WebP file")
    scaled = _scaled(path, content)
    if scaled is not None:
        kind, content = scaled
    elif len(content) > MAX_PLAIN:
        size = f"{len(content) / 2**10:,.0f} kB"
        raise NoPictureError(f"{path!r} has {size}: install Pillow, which scales pictures down")
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def _content(path: str, folder: str | PathLike[str] | None) -> bytes:
    """Return the bytes of a file inside a folder."""
    try:
        place = Path(path)
        if folder is not None:
            base = Path(fspath(folder)).resolve()
            place = (base / place).resolve()  # also where links lead
            if not place.is_relative_to(base):
                raise NoPictureError(f"{path!r} is outside the folder of the table")
        if not place.is_file():
            raise NoPictureError(f"there is no file {path!r}")
        if place.stat().st_size > MAX_BYTES:
            raise NoPictureError(f"{path!r} has more than {MAX_BYTES // 2**20} MB")
        return place.read_bytes()
    except (OSError, RuntimeError) as error:  # the latter for links that lead in a circle
        raise NoPictureError(f"{path!r} cannot be read: {error}") from error
    except ValueError as error:
        if isinstance(error, NoPictureError):
            raise
        raise NoPictureError(f"{path!r} is no path") from error  # with a null in it


def _scaled(path: str, content: bytes) -> tuple[str, bytes] | None:
    """Return the type and the bytes of a smaller picture; None without Pillow."""
    try:
        from PIL import Image, ImageOps
    except ImportError:
        return None
    try:
        with Image.open(io.BytesIO(content), formats=["PNG", "JPEG", "GIF", "WEBP"]) as picture:
            if picture.width * picture.height > MAX_PIXELS:
                millions = MAX_PIXELS // 10**6
                raise NoPictureError(f"{path!r} has more than {millions} million pixels")
            picture.draft("RGB", (2 * SIDE, 2 * SIDE))  # a JPEG is decoded at the size needed
            small: Any = picture
            with suppress(Exception):  # how a camera was held, if it says so in a readable way
                small = ImageOps.exif_transpose(picture)
            return _written(small)
    except NoPictureError:
        raise
    except Exception as error:  # a damaged picture fails in many ways
        raise NoPictureError(f"{path!r} is broken: {error}") from error


def _written(picture: Any) -> tuple[str, bytes]:
    """Return a picture in few bytes: with its transparency, or as a photograph."""
    clear = picture.mode in ("RGBA", "LA", "P", "1", "L") and max(picture.size) <= SIDE
    clear = clear or "A" in picture.getbands() or "transparency" in picture.info
    small = picture.convert("RGBA" if clear else "RGB")
    small.thumbnail((SIDE, SIDE))
    target = io.BytesIO()
    small.save(target, "PNG" if clear else "JPEG", quality=82, optimize=True)
    return "png" if clear else "jpeg", target.getvalue()
