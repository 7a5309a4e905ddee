"""Light of 905 nm in fog and rain: how it fades, and what drops send back.

Visibility V is the distance at which a black target has 2 % contrast against the sky; by
Koschmieder the extinction of green light is 3.912 / V. In thin fog infrared fades less:

    α = (3.912 / V) (905 / 550)^(−q)

q = 1.6 above 50 km, 1.3 above 6 km, 0.16 V + 0.34 above 1 km, V − 0.5 above 500 m (V in km), and 0
in denser fog (Kim, McArthur and Korevaar 2001, Proc. SPIE 4214). Rain adds 1.076 R^0.67 dB/km for R
in mm/h (Carbonneau and Wisely 1998, Proc. SPIE 3232). Light goes there and back: exp(−2 α r).
"""

import math

LIDAR_RATIO = 20.0
"""Extinction over backscatter of droplets, sr; 18 to 20 is usual for water clouds (O'Connor,
Illingworth and Hogan 2004)."""


def extinction(visibility: float | None, rain: float) -> float:
    """α, 1/m, of air with a visibility in m (None: clear) and rain in mm/h."""
    total = 1.076 * rain**0.67 / (1e4 * math.log10(math.e)) if rain > 0.0 else 0.0
    if visibility is None:
        return total
    km = 1e-3 * visibility
    if km > 50.0:
        q = 1.6
    elif km > 6.0:
        q = 1.3
    elif km > 1.0:
        q = 0.16 * km + 0.34
    else:
        q = max(km - 0.5, 0.0)
    return total + 3.912 / visibility * math.pow(905.0 / 550.0, -q)
