"""What an inertial sensor feels at the point where it is fixed, without any error of its own.

The sensor's origin is at p_s = p + R r in the world, with p the vehicle's origin, R the rotation
from body to world and r the place of the sensor in the body frame, which is constant. The body
velocity ν = [v, ω] gives ṗ = R v and Ṙ = R S(ω), so differentiating twice

    ṗ_s = R (v + ω × r)
    p̈_s = R (v̇ + ω × v + ω̇ × r + ω × (ω × r))

An accelerometer feels all of this except gravity, and along its own axes. With R_bs the rotation
from sensor to body axes and g the gravity in the world:

    f = R_bsᵀ (v̇ + ω × v + ω̇ × r + ω × (ω × r) − Rᵀ g)
    ω_s = R_bsᵀ ω

The mounting thus enters twice and in two ways. The lever arm r is a place in the body frame and
goes into the cross products as it is: it is never negated and never turned into sensor axes, since
ω stands in body axes beside it. The rotation is applied once, to the sum, and is the one that takes
components from body to sensor, R_bsᵀ.

The dataset thesis (2021), sections 3.2.4 and 6.2, has this result in its eq. 3.42 but could not
make its transform T_sv agree with it. Three things were mixed there.

- Eqs. 3.11 and 3.14 put R_sv, which takes components from vehicle to sensor, beside t, the place of
  the sensor in the vehicle frame. That is no transform of points: beside R_sv belongs −R_sv t (the
  vehicle's origin as the sensor sees it), and t belongs beside R_svᵀ. Eq. 3.15 moreover multiplies
  from the left, where the pose of the sensor in the world is P T_vs, with T_vs = [R_svᵀ t; 0 1].
- Eq. 6.2 turns the axes of the vehicle onto those of the sensor, which as a matrix on components is
  sensor to vehicle: it is exactly the transpose of eq. 3.12. Eq. 6.1 uses it the other way round,
  so figure 6.3 shows translations on the wrong axes.
- Eq. 6.3 is a proper transform of points, but its translation −R_sv t is not the lever arm. Put
  into ω × (ω × t) it describes a sensor at another place, which is what figure 6.5 shows, while
  pure translations (figure 6.4), where no lever arm enters, come out right.
"""

from seatrial.conventions import GRAVITY
from seatrial.sensors.look import Look
from seatrial.sensors.sensor import Mount
from seatrial.spatial.vectors import Vec3, add, cross, scale, subtract, vec3


def specific_force(look: Look, mount: Mount, earth_rate: Vec3 | None = None) -> Vec3:
    """Specific force at the mounting point in sensor axes, m/s².

    f = R_bsᵀ (v̇ + ω × v + ω̇ × r + ω × (ω × r) + 2 Ω × (v + ω × r) − g), everything in body axes.
    `earth_rate` is Ω in the world frame, rad/s; without it the world does not turn. The
    centrifugal part of the Earth's rotation is by definition in the gravity g.
    """
    linear, angular = vec3(look.acceleration[:3]), vec3(look.acceleration[3:])
    spin, arm = look.angular, mount.arm
    velocity = look.velocity(arm)
    # ω × v + ω × (ω × r) is ω × (v + ω × r).
    felt = add(add(linear, cross(angular, arm)), cross(spin, velocity))
    if earth_rate is not None:
        turning = look.rotation.to_body(earth_rate)
        felt = add(felt, scale(2.0, cross(turning, velocity)))
    return mount.to_sensor(subtract(felt, scale(GRAVITY, look.rotation.down)))


def angular_rate(look: Look, mount: Mount, earth_rate: Vec3 | None = None) -> Vec3:
    """Angular rate in sensor axes, rad/s: R_bsᵀ (ω + Ω); `earth_rate` is Ω in the world frame."""
    spin = look.angular
    if earth_rate is not None:
        spin = add(spin, look.rotation.to_body(earth_rate))
    return mount.to_sensor(spin)
