"""The sensors of a vehicle's description, fitted to the vehicles of a group."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from seatrial.channels import Channel
from seatrial.compile.events.schedule import steps_between_samples
from seatrial.compile.sensors import (
    acoustic,
    cameras,
    contacts,
    inertial,
    machinery,
    optical,
    position,
    ranging,
    sonar,
    water,
)
from seatrial.compile.sensors.context import Built, Context
from seatrial.compile.surroundings.light import sky_of
from seatrial.engine.compiled.suite import MOST_JITTER, Fitted
from seatrial.faults import SensorFault
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean
from seatrial.pytree import constant
from seatrial.render.water import medium
from seatrial.sensors.noise import draws
from seatrial.sensors.sensor import Mount, Sensor
from seatrial.sensors.tap import DenseSensor, Tap
from seatrial.signals import SensorInfo
from seatrial.spec.scenario import Participant, Scenario
from seatrial.spec.sensors.base import SensorSpec
from seatrial.spec.sensors.position import Lbl, Usbl
from seatrial.spec.sensors.ranging import SLOWEST_SOUND

DType = np.dtype[Any]

_BUILDERS: dict[str, Callable[[Any, Context], Built]] = {
    "imu": inertial.imu,
    "ground_truth": inertial.ground_truth,
    "ahrs": position.ahrs,
    "compass": position.compass,
    "magnetometer": position.magnetometer,
    "gnss": position.gnss,
    "uwb": position.uwb,
    "lbl": acoustic.lbl,
    "usbl": acoustic.usbl,
    "modem": acoustic.modem,
    "pressure": water.pressure,
    "dvl": water.dvl,
    "speed_log": water.speed_log,
    "ctd": water.ctd,
    "anemometer": water.anemometer,
    "encoder": machinery.encoder,
    "shaft": machinery.shaft,
    "battery": machinery.battery,
    "echo_sounder": ranging.echo_sounder,
    "lidar": optical.lidar,
    "camera": cameras.camera,
    "depth_camera": cameras.depth_camera,
    "thermal_camera": cameras.thermal_camera,
    "imaging_sonar": sonar.imaging_sonar,
    "mechanical_sonar": sonar.mechanical_sonar,
    "side_scan": sonar.side_scan,
    "multibeam": sonar.multibeam,
    "altimeter": ranging.altimeter,
    "obstacle_sonar": ranging.obstacle_sonar,
    "ais": contacts.ais,
    "radar": contacts.radar,
    "radar_image": sonar.radar_image,
}


def samples_underway(participant: Participant, sensor: SensorSpec) -> int:
    """How many samples of a sensor may be on their way at once; 0 where none is ever late."""
    late = 0.0 if sensor.fidelity == "ideal" else lateness(sensor)
    late += sum(getattr(f, "delay", 0.0) for f in participant.faults if f.target == sensor.name)
    return 0 if late == 0.0 else math.ceil(late * sensor.rate) + 1


def lateness(sensor: SensorSpec) -> float:
    """Longest time from taking a sample to having it, s; some wait for sound to come back."""
    late = sensor.latency + MOST_JITTER * sensor.jitter
    if isinstance(sensor, Lbl | Usbl):
        late += 2.0 * sensor.maximum_range / SLOWEST_SOUND
    return late


class FittedOut:
    """The sensors of one participant, built once for all vehicles that carry the same ones."""

    def __init__(
        self,
        scenario: Scenario,
        participant: Participant,
        channels: tuple[Channel, ...],
        ocean: Ocean,
        dtype: DType,
        rays: RayScene | None = None,
        numbers: Mapping[str, int] | None = None,
    ) -> None:
        """`numbers` are those of all vehicles of the run, as in `Traffic.identity`."""
        assert scenario.time_step is not None  # settled
        self._time_step = scenario.time_step
        self._seed = scenario.seed
        self._dtype = dtype
        self._specs = participant.fitted
        _check_names(participant)
        self._built = []
        self.infos: list[SensorInfo] = []
        self.dense: dict[str, DenseSensor] = {}
        """What expands the taps of the dense sensors among them, by name."""
        for sensor in self._specs:
            period = self._time_step * steps_between_samples(sensor, self._time_step)
            matrix = _sensor_to_body(sensor)
            context = Context(
                mount=Mount(
                    position=constant(sensor.position, dtype),
                    matrix=constant(matrix.ravel(), dtype),
                ),
                dtype=dtype,
                period=period,
                ocean=ocean,
                vehicle=participant.vehicle,
                channels=channels,
                datum=(scenario.world.datum.latitude_deg, scenario.world.datum.longitude_deg),
                orientation=quaternion_of(sensor),
                bottom=ranging.bottom_of(scenario.world.seabed),
                name=participant.name,
                numbers=numbers,
                modems=acoustic.modems_of(scenario),
                rays=rays or RayScene(()),
                weather=scenario.world.weather,
                sky=sky_of(scenario.world),
                water=medium(scenario.world.water_type, scenario.world.turbidity),
            )
            built = _BUILDERS[_type(sensor)](sensor, context)
            self._built.append(built)
            if built.dense is not None:
                self.dense[sensor.name] = built.dense
            self.infos.append(
                SensorInfo(
                    name=sensor.name,
                    type=_type(sensor),
                    components=built.components,
                    units=built.units,
                    deviation=built.deviation,
                    rate=1.0 / period,
                    position=sensor.position,
                    orientation=quaternion_of(sensor),
                    facts=built.facts,
                    payload=None if built.dense is None else built.dense.payload,
                )
            )

    @property
    def views(self) -> dict[str, int]:
        """Rows of the view of each dense sensor's tap, by name."""
        fitted = zip(self._specs, self._built, strict=True)
        return {s.name: b.sensor.view for s, b in fitted if isinstance(b.sensor, Tap)}

    def built(self, name: str) -> Sensor:
        """The sensor of this name, as it is built for all vehicles."""
        names = [sensor.name for sensor in self._specs]
        return self._built[names.index(name)].sensor

    def suite(
        self, names: tuple[str, ...], faults: dict[str, tuple[SensorFault, ...]]
    ) -> tuple[Fitted, ...]:
        """The sensors of the vehicles called `names`, with the faults of each sensor."""
        result = []
        for sensor, built in zip(self._specs, self._built, strict=True):
            ideal = sensor.fidelity == "ideal"
            late = sensor.jitter > 0 and not ideal
            result.append(
                Fitted(
                    sensor=built.sensor,
                    keys=self._keys("sensor", names, sensor.name),
                    latency=constant(0.0 if ideal else sensor.latency, self._dtype),
                    jitter=constant(sensor.jitter, self._dtype) if late else None,
                    jitter_keys=self._keys("jitter", names, sensor.name) if late else None,
                    faults=faults.get(sensor.name, ()),
                    size=_size(built),
                    period=steps_between_samples(sensor, self._time_step),
                    interval=1.0 / sensor.rate,
                    inertial=_type(sensor) in ("imu", "ground_truth"),
                    contacts=_looks_out(built),
                )
            )
        return tuple(result)

    def _keys(self, what: str, names: tuple[str, ...], sensor: str) -> Any:
        keys = [draws.key(self._seed, f"{what}/{name}/{sensor}") for name in names]
        return constant(np.stack(keys, axis=-1))


def _type(sensor: SensorSpec) -> str:
    return str(getattr(sensor, "type"))  # noqa: B009  # every kind of sensor declares its own


def _size(built: Built) -> int:
    """Numbers that a sample has in the compiled loop."""
    return built.sensor.rows if isinstance(built.sensor, Tap) else len(built.components)


def _looks_out(built: Built) -> bool:
    """Whether a sensor looks for other vehicles."""
    return built.contacts or (isinstance(built.sensor, Tap) and built.sensor.seen > 0)


def _check_names(participant: Participant) -> None:
    names = [sensor.name for sensor in participant.fitted]
    for sensor in participant.fitted:
        if names.count(sensor.name) > 1:
            raise sensor.error(
                ("name",),
                f"two sensors are called `{sensor.name}`",
                value=sensor.name,
                expected="a name of its own for every sensor of a vehicle",
                mend="rename one of them",
            )


def _sensor_to_body(sensor: SensorSpec) -> np.ndarray[Any, np.dtype[np.float64]]:
    """R_z(yaw) R_y(pitch) R_x(roll); right angles come out exact."""
    (cr, cp, cy), (sr, sp, sy) = _cosines_and_sines(sensor, 1.0)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def quaternion_of(sensor: SensorSpec) -> tuple[float, float, float, float]:
    """From the sensor's axes to the body's, scalar first; right angles come out exact."""
    (cr, cp, cy), (sr, sp, sy) = _cosines_and_sines(sensor, 0.5)
    return (
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    )


def _cosines_and_sines(sensor: SensorSpec, factor: float) -> tuple[list[float], list[float]]:
    angles = factor * np.array([sensor.roll, sensor.pitch, sensor.yaw])
    # 6e-17 instead of 0 at a right angle would leak a part of gravity into a level axis.
    cosines, sines = (np.where(np.abs(v) < 1e-15, 0.0, v) for v in (np.cos(angles), np.sin(angles)))
    return cosines.tolist(), sines.tolist()
