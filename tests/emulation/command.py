"""`wfacli` with emulated cards, so that tests for real ones can be tried without.

    WFACLI_EMULATED_CARDS=2 python -m tests.emulation.command align …

WFACLI_EMULATED_CARDS says how many there are; CUDA_VISIBLE_DEVICES hides some of them, as NVIDIA's driver does.
"""

from __future__ import annotations

import dataclasses
import os

from wfacli import cli
from wfacli.engines import choice
from wfacli.errors import DeviceError

from .driver import EmulatedDriver

CARDS = "WFACLI_EMULATED_CARDS"


def wanted() -> int:
    """How many emulated cards the environment asks for; 0: none, and real ones are meant."""
    return int(os.environ.get(CARDS, "0"))


def visible() -> list[int]:
    """The cards that CUDA_VISIBLE_DEVICES leaves, as numbers of all, in the order in which they are counted."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    return list(range(wanted())) if named is None else [int(n) for n in named.split(",") if n]


def open_card(index: int, compiler: object = None) -> EmulatedDriver:
    """A card, as choice.CudaDriver opens one."""
    cards = visible()
    if not 0 <= index < len(cards):
        raise DeviceError(f"no GPU {index}: this machine has {len(cards)}, counted from 0")
    driver = EmulatedDriver()
    driver.card = dataclasses.replace(driver.card, bus=f"0000:{cards[index]:02x}:00.0")
    return driver


def install() -> None:
    """From now on this process has emulated cards and no others."""
    choice.CudaDriver = open_card  # type: ignore[misc, assignment]
    choice.count_devices = lambda cuda=None: len(visible())  # type: ignore[assignment]
    from wfacli.run import align as run

    run.may_have_card = lambda: bool(visible())


if __name__ == "__main__":
    install()
    cli.entry()
