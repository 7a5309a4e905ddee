"""What files and folders of a sequence are called.

After P. G. O. Zwilgmeyer, *Creating a Synthetic Underwater Dataset for Egomotion Estimation and 3D
Reconstruction* (2021), sections 4.4 and 4.5: a picture can be told from its name alone,

    seq[SeqNumber]_veh[VehicleNumber]_cam[CameraType][CameraNumber]_[ImageType]-########.[Ext]

and every sensor has a folder of its own in that of its vehicle.
"""

import re
from typing import NamedTuple

LETTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Numbers of one character (table 4.4)."""

IMAGE_TYPES = {
    "A": "colour, with water and light as they are",
    "B": "colour, uniformly lit and without water",
    "C": "normals of the surfaces, world axes",
    "D": "depth along the optical axis",
    "E": "mask of shadows",
    "F": "light scattered once by the water",
    "G": "light scattered more than once by the water",
    "H": "albedo",
    "I": "number of the instance",
    "J": "number of the class",
    "K": "optical flow to the next frame",
    "L": "boxes around the instances, in the picture and in space",
}
"""Table 4.5 as far as G, and ours beyond it."""

CAMERA_TYPES = {
    "M": "monocular camera",
    "L": "left camera of a pair",
    "R": "right camera of a pair",
    "D": "camera that looks down",
}

_PICTURE = re.compile(
    r"seq(?P<sequence>[0-9A-Za-z]{2})_veh(?P<vehicle>[0-9A-Za-z])"
    r"_cam(?P<camera>[A-Z][0-9A-Za-z])_(?P<letter>[A-Z])-(?P<frame>\d{8})\.(?P<ending>[a-z0-9]+)"
)


class Picture(NamedTuple):
    """What the name of a picture says."""

    sequence: str
    vehicle: int
    camera: str
    """Type and number, as in `M0`."""
    letter: str
    """Of `IMAGE_TYPES`."""
    frame: int
    ending: str = "png"

    @property
    def file(self) -> str:
        """Its name."""
        return (
            f"seq{self.sequence}_veh{LETTERS[self.vehicle]}_cam{self.camera}"
            f"_{self.letter}-{self.frame:08d}.{self.ending}"
        )

    @property
    def path(self) -> str:
        """Its name with its folders, from that of the sequence."""
        return f"{camera_folder(self.vehicle, self.camera)}/{self.letter}/{self.file}"


def read_name(name: str) -> Picture:
    """What a name says; a ValueError for one that is none of a picture."""
    found = _PICTURE.fullmatch(name)
    if found is None:
        raise ValueError(
            f"`{name}` is no name of a picture, such as {Picture('02', 0, 'M0', 'A', 0).file}"
        )
    parts = found.groupdict()
    return Picture(
        parts["sequence"],
        LETTERS.index(parts["vehicle"]),
        parts["camera"],
        parts["letter"],
        int(parts["frame"]),
        parts["ending"],
    )


def vehicle_folder(vehicle: int) -> str:
    """Of everything that a vehicle carries."""
    return f"veh{LETTERS[vehicle]}"


def camera_folder(vehicle: int, camera: str) -> str:
    """Of a camera's pictures, by type and number."""
    return f"{vehicle_folder(vehicle)}/cam{camera}"


def sensor_folder(vehicle: int, kind: str, number: int) -> str:
    """Of the samples of another sensor."""
    return f"{vehicle_folder(vehicle)}/{kind}{LETTERS[number]}"
