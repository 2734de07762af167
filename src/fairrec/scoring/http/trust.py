"""Whose certificates are trusted."""

from __future__ import annotations

import os
import ssl
from pathlib import Path

import certifi

from fairrec.core.errors import InputError, plain


def trusted() -> ssl.SSLContext:
    """Authorities that the environment names, else those that are widely trusted."""
    file, folder = (os.environ.get(name, "") for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"))
    if not file and not folder:
        return ssl.create_default_context(cafile=certifi.where())
    try:
        if folder and not Path(folder).is_dir():
            # a folder that is not there would be taken for one without certificates
            raise NotADirectoryError(0, "no such folder")
        return ssl.create_default_context(cafile=file or None, capath=folder or None)
    except (OSError, ValueError) as error:
        given = [f"SSL_CERT_FILE={plain(file, 200)}"] if file else []
        given += [f"SSL_CERT_DIR={plain(folder, 200)}"] if folder else []
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(
            f"{' '.join(given)}: no certificates can be read there ({plain(reason)}). Name "
            "certificates in PEM form, or unset it."
        ) from error
