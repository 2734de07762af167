"""`fairrec-paper serve`: a trained run as a service, to try an audit over HTTP."""

from __future__ import annotations

import logging
import os
import shlex
import socket
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairrec.cli.parameters import Here, takes_options
from fairrec.cli.shared import DebugOption, QuietOption, say
from fairrec.core.errors import InputError, plain
from fairrec.core.kinds import NAME, TEXT, whole
from fairrec.core.options import Option
from fairrec_paper.models.deep.model_names import need_torch
from fairrec_paper.models.deep.training_options import Device

if TYPE_CHECKING:
    from fairrec_paper.models.runs.run import Run


@takes_options
def serve_command(
    *,
    run: Annotated[Path, typer.Argument(help="A trained run; see fairrec-paper train.")],
    host: Annotated[
        str, Option(replace(TEXT, metavar="HOST"), "Address to listen at")
    ] = "127.0.0.1",
    port: Annotated[int, Option(whole(0, 65_535), "Port to listen at; 0 for any free one")] = 8080,
    name: Annotated[
        str | None, Option(NAME, "Name of the model in addresses", default="its kind")
    ] = None,
    token_env: Annotated[
        str | None, Option(NAME, "Environment variable with a bearer token to ask for")
    ] = None,
    device: Annotated[Device, Here(panel="")] = "auto",
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Serve a trained run by the Open Inference Protocol until Ctrl-C."""
    need_torch("starlette", "uvicorn")
    from fairrec_paper.models.runs.connections import server_of
    from fairrec_paper.models.runs.run import load_run
    from fairrec_paper.models.runs.serving import serving_app

    token = "" if token_env is None else os.environ.get(token_env, "").strip()
    if token_env is not None and not token:
        raise InputError("--token-env: the environment variable it names is not set, or is empty.")
    loaded = load_run(run, device)
    model = name or loaded.record.model
    if not all(letter.isalnum() or letter in "-_." for letter in model):
        raise InputError(f"--name {plain(model)}: give letters, digits, '-', '_' and '.' only.")
    app = serving_app(loaded, model, token, host)
    listener = _listener(host, port)
    if not quiet:
        address = f"http://{_shown(host)}:{listener.getsockname()[1]}/v2/models/{model}"
        say(f"Serving {run} at {address} until Ctrl-C. In another terminal:")
        say(f"  {_audit(loaded, address, token_env)}")
        logging.getLogger("uvicorn.error").addHandler(logging.StreamHandler())
    server_of(app).run(sockets=[listener])


def _listener(host: str, port: int) -> socket.socket:
    """A socket that listens already when the address is printed."""
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    # with its protocol named, asyncio sends small parts at once; otherwise each waits some 40 ms
    listener = socket.socket(kind, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)
        return listener
    except (OSError, OverflowError) as error:
        listener.close()
        raise InputError(
            f"--host {plain(host)} --port {port}: cannot listen there ({error}). Choose another."
        ) from error


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _audit(run: Run, address: str, token_env: str | None) -> str:
    """The command that audits what is served."""
    tables = run.tables()
    command = ["fairrec", "audit", str(run.folder / "test.parquet")]
    for name in ("users", "items", "history"):
        if tables[name] is not None:
            command += [f"--{name}", str(tables[name])]
    command += ["--by", ",".join(tables["by"]), "--endpoint", address]
    return shlex.join([*command, *(["--token-env", token_env] if token_env else [])])
