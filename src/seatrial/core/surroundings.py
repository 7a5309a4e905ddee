"""What a vehicle finds around it at one instant; every force of that instant reads this."""

from typing import NamedTuple

from seatrial.core.smooth import smoothstep
from seatrial.spatial.rotations import Rotation
from seatrial.spatial.vectors import Scalar, Twist, Vec3, Wrench


class Surroundings(NamedTuple):
    """The ocean at the vehicle."""

    position: Vec3
    """Of the vehicle's origin, NED, m."""
    rotation: Rotation
    velocity: Twist
    """Of the vehicle over ground, body axes."""
    relative: Twist
    """Of the vehicle relative to the water, body axes."""
    fluid_velocity: Vec3 | None
    """Of the water, body axes; None in still water."""
    fluid_acceleration: Vec3 | None
    """Material acceleration Dv/Dt of the water, body axes; None where it is zero everywhere. For
    a surface craft that of the current alone."""
    elevation: Scalar
    """Of the surface that the hull feels, positive up, m."""
    slope: tuple[Scalar, Scalar]
    """Of that surface towards north and east."""
    density: Scalar
    """Of the water, kg/m³."""
    density_ratio: Scalar
    """Local over reference density; scales every hydrodynamic force."""
    wet: Scalar
    """Share of the hull that is under water, 0 to 1."""
    slices: list[Scalar]
    """The same for every slice of a submerged craft; empty for a surface craft."""
    volume_ratio: Scalar
    """Displaced volume over its value at rest; surface craft only."""
    excitation: Wrench | None
    """First-order pressure of the waves on a surface craft, body axes."""
    wave_acceleration: Twist | None
    """Of the waves' water around a surface craft, body axes; None where the excitation holds what
    it does to the added mass."""
    hull: Wrench | None
    """What the water does to the triangles or cubes of a hull that has them, body axes."""
    drift: Vec3 | None
    """Velocity of the water without its waves, body axes; None where it rests."""

    def immersion(self, point: Vec3, size: Scalar) -> Scalar:
        """Share of a ball of diameter `size` at a body-fixed point that is under water.

        The submerged volume of a sphere is 3 s² − 2 s³ of the whole, where s is the submerged
        part of its diameter; the curve and its slope are continuous at both ends.
        """
        north, east, down = self.rotation.to_world(point)
        surface = self.elevation + self.slope[0] * north + self.slope[1] * east
        return smoothstep((self.position[2] + down + surface) * (1.0 / size) + 0.5)
