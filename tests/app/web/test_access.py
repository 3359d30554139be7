"""Access control: pages of this machine, and others with a token; the rest is refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from support.web import HOST, ask

from counterplay.app.web.access import MOST_BODY, MOST_UPLOAD, AccessPolicy
from counterplay.app.web.app import built_in_pages, make_app, static_folder

OWN = f"http://{HOST}"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return make_app([], tmp_path_factory.mktemp("keep"))[0]


def test_every_page_is_served_and_says_that_nothing_comes_from_elsewhere(app: Any) -> None:
    for page in (one.name for one in built_in_pages()):
        reply = ask(app, f"/{page}")
        assert reply.status == 200
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "http" not in policy
        assert "unsafe" not in policy
        assert reply.headers["x-content-type-options"] == "nosniff"
    assert ask(app, "/").headers["location"] == "/play"
    missing = ask(app, "/nothing")  # a page with the menu, which says so
    assert (missing.status, missing.body) == (404, ask(app, "/play").body)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8642", "127.0.0.1.evil.example", "192.0.2.7", "", None]
)
def test_another_name_in_host_is_refused(app: Any, host: str | None) -> None:
    assert ask(app, "/play", host=host).status == 421
    assert ask(app, "/api/games", host=host).status == 421


@pytest.mark.parametrize("name", ["127.0.0.1:8642", "localhost:8642", "localhost", "[::1]:8642"])
def test_the_own_names_are_known(app: Any, name: str) -> None:
    assert ask(app, "/play", host=name).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": f"https://{HOST}"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"},
    ],
)
def test_requests_of_other_sites_are_refused(app: Any, headers: dict[str, str]) -> None:
    body = {"game": "kuhn", "opponent": "uniform"}
    assert ask(app, "/api/tables", body, **headers).status == 403
    assert ask(app, "/api/games", **headers).status == 403


def test_a_link_from_elsewhere_may_open_a_page_but_ask_for_nothing(app: Any) -> None:
    link = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}
    assert ask(app, "/explore?s=x", **link).status == 200
    assert ask(app, "/api/strategies", **link).status == 403


def test_the_own_page_may_ask(app: Any) -> None:
    body = {"game": "kuhn", "opponent": "uniform"}
    reply = ask(app, "/api/tables", body, origin=OWN, sec_fetch_site="same-origin")
    assert reply.status == 200, reply.body


def test_bodies_have_a_limit_said_or_not(app: Any) -> None:
    large = b"x" * (MOST_BODY + 1)
    assert ask(app, "/api/tables", large, content_length=str(len(large))).status == 413
    assert ask(app, "/api/tables", large).status == 413  # without a length it is counted
    assert ask(app, "/api/tables", b"{}", content_length="-1").status == 413
    assert ask(app, "/api/uploads", b"x", content_length=str(MOST_UPLOAD + 1)).status == 413


def test_elsewhere_a_token_is_needed_and_kept_as_a_cookie(tmp_path: Path) -> None:
    policy = AccessPolicy(("127.0.0.1", "table.example"), "secret", any_address=True)
    app = make_app([], tmp_path, policy)[0]
    assert ask(app, "/play").status == 401
    assert ask(app, "/api/games").status == 401
    assert ask(app, "/?token=wrong").status == 401
    assert ask(app, "/api/games", cookie="counterplay=wrong").status == 401
    reply = ask(app, "/?token=secret", host="192.0.2.7:8642")
    assert reply.status == 303
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert ask(app, "/play", cookie="counterplay=secret").status == 200
    assert ask(app, "/play", cookie="counterplay=secret", host="evil.example").status == 421


PATHS = [
    "/static/../access.py",
    "/static/%2e%2e/access.py",
    "/static/..%2faccess.py",
    "/static//etc/passwd",
    "/api/tables/..%2f..%2fetc",
    "/api/tables/AAAAAAAAAAAAAAAA",
    "/api/reports/../../etc/passwd",
    "/api/reports/0/..%2f..%2fetc%2fpasswd",
    "/api/runs/..",
    "/api/explore?s=../../../etc/passwd",
    "/api/explore?s=/etc/passwd",
    "/api/explore?s=equilibrium:/etc/passwd",
    "/api/hands/..%2f..%2fetc%2fpasswd",
]


@pytest.mark.parametrize("path", PATHS)
def test_no_path_of_a_request_reaches_a_file(app: Any, path: str) -> None:
    for text in (path, path.replace("%2f", "/").replace("%2e", ".")):
        reply = ask(app, text)
        assert reply.status in (400, 404), (text, reply)
        assert b"root:" not in reply.body
        assert b"Access control" not in reply.body


@pytest.mark.parametrize(
    "game", ["mine.py:Game", "/etc/passwd", "game.efg", "open_spiel:kuhn_poker", "kuhn(players=3)"]
)
def test_a_request_names_built_in_games_only(app: Any, game: str, tmp_path: Path) -> None:
    trap = tmp_path / "mine.py"
    trap.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Game: pass\n")
    for name in (game, game.replace("mine.py", str(trap))):
        reply = ask(app, "/api/tables", {"game": name, "opponent": "uniform"})
        assert reply.status == 400
    assert not (tmp_path / "ran").exists()


def test_scripts_put_text_into_pages_as_text_only() -> None:
    scripts = sorted(static_folder().glob("*.js"))
    assert len(scripts) > 8
    for path in scripts:
        text = path.read_text()
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert word not in text, (path.name, word)


def test_pages_name_no_other_machine() -> None:
    for path in static_folder().iterdir():
        text = path.read_text()
        for part in text.split("http")[1:]:
            assert part.startswith("://www.w3.org/2000/svg"), (path.name, part[:40])


def test_links_out_of_a_served_folder_are_not_followed(tmp_path: Path) -> None:
    from counterplay.app.web.catalog import Catalog

    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "secret.phhs").write_text("x")
    os.symlink(outside, inside / "link")
    os.symlink(outside / "secret.phhs", inside / "hands.phhs")
    (inside / "own.phhs").write_text("x")
    assert [entry.name for entry in Catalog([inside]).entries()] == ["own.phhs"]
