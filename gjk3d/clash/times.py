"""When parts that move clash, beside when they did in an earlier run."""

from __future__ import annotations

from gjk3d.clash.finding import Clash

_LONGER = 0.1  #: of how long a clash lasted: so much earlier, or later, is no other time

Span = tuple[float, float, float, float]


def within(clash: Clash, spans: tuple[Span, ...]) -> bool:
    """Tell whether two parts clash at no other times than these, which are as `Clash.intervals` has them.

    Parts at rest, which have none, clash all of the time. What is proven decides: a time at which the two may have
    been free now is no other one, and one at which they may have been in clash then is no other one either.
    """
    if not spans:
        return True
    if clash.time is None:
        return False
    at = clash.time
    return all(any(_inside(now, then) for then in spans) for now in clash.intervals or ((at, at, at, at),))


def same_times(one: Clash, two: Clash) -> bool:
    """Tell whether two findings clash at the same times."""
    return within(one, two.intervals) and within(two, one.intervals)


def _inside(now: Span, then: Span) -> bool:
    spare = _LONGER * (then[3] - then[0])
    return then[0] - spare <= now[1] and now[2] <= then[3] + spare
