"""A table of named things that refuses duplicates and explains unknown names."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Generic, TypeVar

from fairrec.core.errors import InputError, unknown_name

T = TypeVar("T")


class Registry(Generic[T]):
    """Named entries of one kind, in the order they were added.

    Parameters
    ----------
    home : the package whose modules add the entries; it is loaded when an entry is first asked for
        or added, so that its own entries come first and their names are taken

    Examples
    --------
    >>> colours = Registry[int]("colour")
    >>> colours.add("red", 1)
    >>> colours["rde"]
    Traceback (most recent call last):
    fairrec.core.errors.UnknownNameError: No colour 'rde'. Did you mean 'red'? Known: red.
    """

    def __init__(self, kind: str, home: str | None = None) -> None:
        self.kind = kind
        self._home = home
        self._entries: dict[str, T] = {}

    def add(self, name: str, entry: T) -> None:
        """Add an entry; a name that is taken is an error."""
        if name in self:
            raise InputError(
                f"The {self.kind} '{name}' is registered already. Choose another name."
            )
        self._entries[name] = entry

    def remove(self, name: str) -> None:
        """Take an entry out, so that a notebook cell can define it again."""
        self[name]
        del self._entries[name]

    def __getitem__(self, name: str) -> T:
        if name not in self:
            raise unknown_name(self.kind, name, self._entries)
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(self._entries)

    def __contains__(self, name: object) -> bool:
        self._load()
        return name in self._entries

    def _load(self) -> None:
        # returns at once while the home itself is being loaded, which is when its modules add
        if self._home is not None:
            import_module(self._home)
