"""Descriptions of sensors, a file per family."""

from typing import Annotated

from pydantic import Field

from seatrial.spec.sensors.cameras import Camera, DepthCamera, ThermalCamera
from seatrial.spec.sensors.contacts import Ais, Radar
from seatrial.spec.sensors.inertial import GroundTruth, Imu
from seatrial.spec.sensors.machinery import Battery, Encoder, Shaft
from seatrial.spec.sensors.optical import Lidar
from seatrial.spec.sensors.position import Ahrs, Compass, Gnss, Lbl, Magnetometer, Modem, Usbl, Uwb
from seatrial.spec.sensors.ranging import Altimeter, EchoSounder, ObstacleSonar
from seatrial.spec.sensors.sonar import (
    ImagingSonar,
    MechanicalSonar,
    Multibeam,
    RadarImage,
    SideScan,
)
from seatrial.spec.sensors.water import Anemometer, Ctd, Dvl, Pressure, SpeedLog

AnySensor = Annotated[
    Imu
    | Ahrs
    | Compass
    | Magnetometer
    | Gnss
    | Uwb
    | Lbl
    | Usbl
    | Modem
    | Pressure
    | Dvl
    | SpeedLog
    | Ctd
    | Anemometer
    | Encoder
    | Shaft
    | Battery
    | EchoSounder
    | Lidar
    | Camera
    | DepthCamera
    | ThermalCamera
    | ImagingSonar
    | MechanicalSonar
    | SideScan
    | Multibeam
    | Altimeter
    | ObstacleSonar
    | Ais
    | Radar
    | RadarImage
    | GroundTruth,
    Field(discriminator="type"),
]
