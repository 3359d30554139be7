"""The command: how it starts, what it says, and what it says when it cannot."""

from __future__ import annotations

import signal
import socket
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from support.command import run, typed
from support.web import Server, free_port

from counterplay.app.web.app import static_folder

ROOT = Path(__file__).parent.parent.parent.parent


def test_the_first_page_is_there_before_anything_heavy_is_loaded(tmp_path: Path) -> None:
    """And Ctrl-C ends it at once."""
    server = Server(tmp_path)
    before = time.monotonic()
    line = server.start()
    try:
        assert f"http://127.0.0.1:{server.port}/" in line
        assert "token" not in line
        with urllib.request.urlopen(f"{server.address}/play", timeout=30) as reply:
            assert b"Counterplay" in reply.read()
        took = time.monotonic() - before
    finally:
        said = server.kill(signal.SIGINT)
    assert said == f"Stopped. Tables and the hands played at them are in {server.tables}.\n"
    assert took < 8  # a machine that does other things too; the benchmark measures it


def test_another_address_needs_the_token_that_is_printed(tmp_path: Path) -> None:
    server = Server(tmp_path)
    line = server.start("--host", "0.0.0.0")
    try:
        address = line.split()[3]
        assert "?token=" in address
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"{server.address}/play", timeout=30)
        jar = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with jar.open(address.replace("0.0.0.0", "127.0.0.1"), timeout=30) as reply:
            assert reply.status == 200
    finally:
        server.kill(signal.SIGTERM)


def test_a_port_in_use_a_place_that_is_not_there_and_a_host_that_is_not_ours(
    tmp_path: Path,
) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", free_port()))
        busy.listen()
        done = typed(tmp_path, "serve", "--no-browser", "--port", str(busy.getsockname()[1]))
    assert done.code == 2
    assert "cannot listen" in done.stderr
    done = typed(tmp_path, "serve", "nothing", "--no-browser")
    assert done.code == 2
    assert "nothing: no such file or folder" in done.stderr
    (tmp_path / "file").write_text("precious")
    done = typed(tmp_path, "serve", "--out", "file", "--no-browser")
    assert done.code == 2
    assert "file is not a folder" in done.stderr
    done = typed(tmp_path, "serve", "--host", "192.0.2.1", "--no-browser")
    assert done.code == 2
    assert "cannot listen" in done.stderr


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "uvicorn.py").write_text("raise ImportError('not here')")
    done = run(tmp_path, "serve", "--no-browser", PYTHONPATH=str(tmp_path))
    assert done.returncode == 2
    assert "pip install '.[web]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_package_carries_its_pages() -> None:
    names = {path.name for path in static_folder().iterdir()}
    assert {"index.html", "style.css", "app.js", "mark.svg"} <= names
    text = (ROOT / "pyproject.toml").read_text()
    assert '"app/web/static/*"' in text
    page = (static_folder() / "index.html").read_text()
    for name in names:
        if name.endswith(".css"):
            assert f"/static/{name}" in page


def test_scripts_and_styles_are_as_narrow_as_the_rest() -> None:
    for path in static_folder().iterdir():
        if path.suffix in (".js", ".css"):
            assert max(len(line) for line in path.read_text().splitlines()) <= 100, path.name
