"""Packages whose names are loaded at their first use. The error for a misspelt name contains the nearest name."""

import sys
from collections.abc import Callable

import lazy_loader


def attach(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    ``file`` is the package's ``__init__.py``. The names are those in the stub file (.pyi) next to it.
    """
    load, names, public = lazy_loader.attach_stub(package, file)

    def get(name: str) -> object:
        if name not in public:
            from gjk3d.wording import missing_name

            raise missing_name(package, name, public)
        value = load(name)
        setattr(sys.modules[package], name, value)
        return value

    return get, names, public
