"""Check the entries of mkdocs.yml and the links between pages, without mkdocs."""

from __future__ import annotations

import re
import sys
from pathlib import PurePosixPath
from posixpath import normpath

import pytest

from .pages import DOCS, ROOT, anchors, links, names

sys.path.insert(0, str(DOCS))
from reference import pages as made_pages

MADE = made_pages()
PAGES = {**{name: (DOCS / name).read_text() for name in names()}, **MADE}
NAV = re.findall(r"([\w/-]+\.md)", (ROOT / "mkdocs.yml").read_text())


def test_each_page_is_in_the_navigation_once():
    assert sorted(NAV) == sorted(PAGES)


@pytest.mark.parametrize("page", sorted(PAGES))
def test_links_lead_somewhere(page):
    for link in links(PAGES[page]):
        path, _, anchor = link.partition("#")
        place = normpath(str(PurePosixPath(page).parent / path)) if path else page
        if place.startswith("../"):
            assert place.startswith(("../bench/results/", "../data/")), f"{link}: not on the site (docs/hooks.py)"
            assert (DOCS / place).exists(), link
        else:
            picture = place.startswith(("plots/", "pictures/")) and (DOCS / place).exists()
            # Generated pages are not in a checkout, whose pages must not link to them.
            assert picture or (DOCS / place).exists() or page in MADE, link
            assert not anchor or anchor in anchors(PAGES[place]), link


def test_the_reference_has_every_option_and_every_name():
    import wfacli
    from wfacli.cli.app import COMMANDS, loaded

    for name, entry in COMMANDS.items():
        section = re.search(rf"^## wfacli {name}$(.*?)(^## |\Z)", MADE["reference/cli.md"], re.M | re.S)
        assert (section is None) == entry.hidden
        for param in loaded(name).params if section else ():
            names = param.opts if param.param_type_name == "option" and not param.hidden else ()
            assert all(re.search(rf"[` ]{o}[`, ]", section[1]) for o in names), param.name
    for name in set(wfacli.__all__) - {"__version__"}:
        assert f"\n## {name}\n" in MADE["reference/python.md"]
