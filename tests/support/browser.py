"""A Chromium for the tests: one that is there, or one that is installed by ordinary means.

`python tests/support/browser.py` (make browser) finds or installs it and prints where it is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
#: Headless, and without the services that would ask machines elsewhere.
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_browser() -> str | None:
    """The path of a Chromium, or None. COUNTERPLAY_BROWSER names one."""
    named = os.environ.get("COUNTERPLAY_BROWSER")
    if named:
        return named
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    return found or _playwrights_own()


def _playwrights_own() -> str | None:
    """What `playwright install chromium` has put away."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def install_browser() -> str:
    """Debian's package where that can be installed, else Playwright's own."""
    if shutil.which("apt-get") and os.geteuid() == 0:
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for words in (["update", "-qq"], ["install", "-y", "-qq", "chromium"]):
            subprocess.run(["apt-get", *words], env=quiet, stdout=subprocess.DEVNULL, check=True)
    else:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=True)
    found = find_browser()
    if found is None:
        raise SystemExit("no Chromium could be installed; set COUNTERPLAY_BROWSER to one")
    return found


if __name__ == "__main__":
    print(find_browser() or install_browser())
