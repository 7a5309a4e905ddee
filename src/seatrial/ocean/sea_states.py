"""Sea-state codes (WMO code table 3700) as a significant height and a peak period.

Heights are the middle of each code's band. Periods are the most probable modal periods of the
open-ocean North Atlantic by Bales (1983), "Designing ships to the natural environment", Naval
Engineers Journal 95(2): the annual table that NATO's STANAG 4194 took over. Code 9 has no upper
bound; the table's lower bound of 14 m is used. The table names no period for code 1, which is
given the one of a fully developed sea of its height.
"""

from seatrial.ocean.spectra import Spectrum, bretschneider, pierson_moskowitz_by_height

SEA_STATES: dict[int, tuple[float, float | None]] = {
    0: (0.0, None),
    1: (0.05, None),
    2: (0.3, 7.5),
    3: (0.88, 7.5),
    4: (1.88, 8.8),
    5: (3.25, 9.7),
    6: (5.0, 12.4),
    7: (7.5, 15.0),
    8: (11.5, 16.4),
    9: (14.0, 20.0),
}
"""Code -> (Hs in m, Tp in s)."""


def sea_state(code: int) -> Spectrum | None:
    """Bretschneider spectrum of a code from 0 to 9; None for the mirror-like sea of code 0."""
    height, period = SEA_STATES[code]
    if height == 0.0:
        return None
    if period is None:
        return pierson_moskowitz_by_height(height)
    return bretschneider(height, period)
