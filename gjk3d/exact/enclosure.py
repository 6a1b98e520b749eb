"""What is proven about one signed distance so far, and what is still wanted."""

from __future__ import annotations

from fractions import Fraction

from gjk3d.exact.arithmetic import Root, Vec


class Enclosure:
    """Bounds of the signed distance of two cores, each the value of an exact proof.

    Parameters
    ----------
    want_low, want_high : Fraction, optional
        A search stops once both are proven, or one is refuted; None wants nothing of that side.
    stop : bool
        False never stops a search before the exact value.
    """

    __slots__ = ("high", "low", "normal", "stop", "want_high", "want_low")

    def __init__(
        self, want_low: Fraction | None = None, want_high: Fraction | None = None, *, stop: bool = True
    ) -> None:
        self.want_low = None if want_low is None else Root.of(want_low)
        self.want_high = None if want_high is None else Root.of(want_high)
        self.stop = stop
        self.low: Root | None = None
        self.high: Root | None = None
        self.normal: Vec = (1, 0, 0)  #: that proved ``low``

    def raise_low(self, bound: Root, normal: Vec) -> None:
        """Take note of a lower bound, and of the normal whose support gap it is."""
        if self.low is None or self.low < bound:
            self.low, self.normal = bound, normal

    def drop_high(self, bound: Root) -> None:
        """Take note of an upper bound."""
        if self.high is None or bound < self.high:
            self.high = bound

    @property
    def low_proven(self) -> bool:
        """Whether the distance is proven to be at least what is wanted."""
        return self.want_low is None or (self.low is not None and not self.low < self.want_low)

    @property
    def high_proven(self) -> bool:
        """Whether the distance is proven to be at most what is wanted."""
        return self.want_high is None or (self.high is not None and not self.want_high < self.high)

    @property
    def low_refuted(self) -> bool:
        """Whether the distance is proven to be less than is wanted."""
        return self.want_low is not None and self.high is not None and self.high < self.want_low

    @property
    def high_refuted(self) -> bool:
        """Whether the distance is proven to be more than is wanted."""
        return self.want_high is not None and self.low is not None and self.want_high < self.low

    @property
    def done(self) -> bool:
        """Whether a search can stop."""
        return self.stop and (self.low_refuted or self.high_refuted or (self.low_proven and self.high_proven))
