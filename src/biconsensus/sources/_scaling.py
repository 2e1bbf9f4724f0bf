"""Data in a range where distances can be squared: neither overflow nor the loss of all digits to a far centre."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biconsensus.errors import InputError
from biconsensus.protocols import FloatArray

SAFE_POWER = 100
"""Powers of two up to which data is not scaled: even the fourth powers of distances stay far from overflow."""
FAR = 2.0**20
"""Offset over spread from which on data is centred: squares then lose 40 of their 53 bits to the offset."""


@dataclass(frozen=True)
class Scaling:
    """A shift and a power of two. Distances change only by the power of two, which is exact."""

    centre: FloatArray | None = None
    """(d,) what is subtracted, in the scaled unit."""
    power: int = 0
    """Data is divided by two to this power; 0 where it is in a safe range."""

    @classmethod
    def of(cls, X: FloatArray) -> Scaling:
        """What brings data into a safe range; nothing for ordinary data, which stays bit for bit.

        Examples
        --------
        >>> Scaling.of(np.array([[0.0], [3.0]]))
        Scaling(centre=None, power=0)
        >>> Scaling.of(np.array([[0.0], [3e200]])).power
        666
        """
        largest = float(np.abs(X).max(initial=0.0))
        if largest == 0.0:
            return cls()
        # first to numbers of at most 1, so that nothing below can overflow
        first = int(np.frexp(largest)[1])
        unit = np.ldexp(X, -first)
        low, high = unit.min(axis=0), unit.max(axis=0)
        spread = float((high - low).max())
        if spread == 0.0:
            return cls(None, first if abs(first) > SAFE_POWER else 0)
        power = first + int(np.frexp(spread)[1])
        if abs(power) <= SAFE_POWER and abs(first) <= SAFE_POWER:
            power = 0
        far = float(np.abs(low / 2 + high / 2).max()) >= FAR * spread
        return cls(np.ldexp(low / 2 + high / 2, first - power) if far else None, power)

    def apply(self, X: FloatArray) -> FloatArray:
        """Data in the safe range."""
        scaled = np.ldexp(X, -self.power) if self.power else X
        return scaled if self.centre is None else np.asarray(scaled - self.centre)


def check_range(scaling: Scaling) -> None:
    """Refuse data whose squared distances are not numbers, where it must stay in its own unit."""
    if scaling.power:
        raise InputError(
            f"X spans about 2**{scaling.power}, so that squared distances overflow or vanish; "
            f"multiply it by 2**{-scaling.power} first."
        )
