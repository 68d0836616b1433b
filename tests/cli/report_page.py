"""Parse the page of --report: its sections with their texts, text alternatives and tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

RUN_SECTIONS = ("kernels", "stages", "run")  # which differ between runs with the same output


@dataclass
class Section:
    """A section: its text, the text alternatives of its pictures, and the lines of its tables."""

    text: str = ""
    pictures: list[str] = field(default_factory=list)
    lines: list[list[str]] = field(default_factory=list)

    @property
    def numbers(self) -> dict[str, str]:
        """Second cells of the lines by their first ones."""
        return {line[0]: line[1] for line in self.lines if len(line) > 1}

    def column(self, number: int) -> list[int]:
        """A column of counts, without its head."""
        return [int(line[number].replace(",", "")) for line in self.lines[1:]]


class Page(HTMLParser):
    """A page; sections[""] is what is in no section."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.source = path.read_text()
        self.sections: dict[str, Section] = {"": Section()}
        self._name, self._open = "", list[str]()
        self.feed(self.source)
        self.close()
        assert self._open == [], "elements that do not end"

    def __getitem__(self, name: str) -> Section:
        return self.sections[name]

    def without_run(self) -> str:
        """The source without the sections about the run itself."""
        source = self.source
        for name in RUN_SECTIONS:
            begin = source.index(f'<section id="{name}"')
            source = source[:begin] + source[source.index("</section>", begin) :]
        return source

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag not in ("meta", "link", "!doctype"):
            self._open.append(tag)
        if tag == "section":
            self._name = named["id"] or ""
            self.sections[self._name] = Section()
        here = self.sections[self._name]
        if label := named.get("aria-label"):
            here.pictures.append(label)
        if tag == "tr":
            here.lines.append([])
        if tag in ("td", "th"):
            here.lines[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        if tag == "section":
            self._name = ""

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("style", "title"):
            return
        here = self.sections[self._name]
        here.text += data
        if {"td", "th"} & {*self._open}:
            here.lines[-1][-1] += data
