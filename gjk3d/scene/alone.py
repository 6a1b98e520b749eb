"""One thread at a time in a scene, whose arrays would change under a question: compiled code reads what is gone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


def alone(method: F) -> F:
    """Let a method of a scene wait until no other thread is in it, nor in a scene that it is asked against."""

    @wraps(method)
    def locked(self: Any, *args: Any, **options: Any) -> Any:
        other = args[0] if args else options.get("other")
        if not isinstance(other, type(self)) or other is self:
            with self._lock:
                return method(self, *args, **options)
        with ExitStack() as both:
            for scene in sorted((self, other), key=id):  # in one order, or two threads would wait for each other
                both.enter_context(scene._lock)
            return method(self, *args, **options)

    return cast(F, locked)
