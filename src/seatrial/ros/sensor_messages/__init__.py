"""The ROS 2 messages of every kind of sensor, a file per family."""

from collections.abc import Callable

from seatrial.ros.sensor_messages import inertial, machinery, optical, position, sonar, water
from seatrial.ros.sensor_messages.common import Samples, SensorTopic

KINDS: dict[str, Callable[[SensorTopic], list[Samples]]] = {
    "imu": inertial.imu,
    "ahrs": inertial.ahrs,
    "compass": inertial.compass,
    "magnetometer": inertial.magnetometer,
    "gnss": position.gnss,
    "uwb": position.uwb,
    "lbl": position.uwb,
    "pressure": position.pressure,
    "dvl": water.dvl,
    "altimeter": water.altimeter,
    "speed_log": water.speed_log,
    "anemometer": water.anemometer,
    "ctd": water.ctd,
    "encoder": machinery.encoder,
    "shaft": machinery.shaft,
    "battery": machinery.battery,
    "multibeam": sonar.multibeam,
    "camera": optical.camera,
    "depth_camera": optical.camera,
    "thermal_camera": optical.camera,
}
