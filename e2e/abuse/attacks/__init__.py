"""What one client can do to a server, by name. Each function gets a `Target` and returns when its time is over or all is sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from client import Target


@dataclass(frozen=True)
class Attack:
    name: str
    run: Callable[[Target], None]
    seconds: float
    # Whether the short form of `make test` has it.
    is_chosen: bool
    # Whether it stores files, up to a share that is tested elsewhere. How fast is up to the disk.
    stores_files: bool


ATTACKS: dict[str, Attack] = {}


def attack(name: str, seconds: float = 5, chosen: bool = False, stores: bool = False) -> Callable[[Callable[[Target], None]], Callable[[Target], None]]:
    """Adds a function to the list."""

    def add(run: Callable[[Target], None]) -> Callable[[Target], None]:
        ATTACKS[name] = Attack(name, run, seconds, chosen, stores)
        return run

    return add


def load() -> dict[str, Attack]:
    """All attacks, in the order of their files."""
    from . import rest, connections, services, pictures, sockets, workers  # noqa: F401

    return ATTACKS
