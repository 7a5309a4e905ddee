"""Messages that ROS itself does not define: of sonars, Doppler logs, and Panisim's of actuators.

The fields are those of the package `marine_acoustic_msgs` as it is released for ROS 2, so that its
drivers, viewers and recordings understand ours. rosbags ships ROS's own messages only. A service is
a pair of messages; on the wire of Cyclone DDS both begin with who asked and the number of the
question.
"""

from typing import Any

SONAR = "marine_acoustic_msgs/msg/RawSonarImage"
PROJECTED = "marine_acoustic_msgs/msg/ProjectedSonarImage"
SONAR_DATA = "marine_acoustic_msgs/msg/SonarImageData"
DETECTIONS = "marine_acoustic_msgs/msg/SonarDetections"
FLAG = "marine_acoustic_msgs/msg/DetectionFlag"
PING = "marine_acoustic_msgs/msg/PingInfo"
ACTUATOR = "interfaces/msg/Actuator"
TRIGGER_REQUEST = "std_srvs/msg/Trigger_Request"
TRIGGER_RESPONSE = "std_srvs/msg/Trigger_Response"
SEA_REQUEST = "seatrial_interfaces/msg/SetSeaState_Request"
SEA_RESPONSE = "seatrial_interfaces/msg/SetSeaState_Response"
DVL = "marine_acoustic_msgs/msg/Dvl"

_TEXTS = {
    PING: """
float32 frequency
float32 sound_speed
float32[] tx_beamwidths
float32[] rx_beamwidths
""",
    ACTUATOR: """
std_msgs/Header header
string[] actuator_names
float64[] actuator_values
""",
    TRIGGER_REQUEST: """
uint64 guid
int64 number
uint8 structure_needs_at_least_one_member
""",
    TRIGGER_RESPONSE: """
uint64 guid
int64 number
bool success
string message
""",
    SEA_REQUEST: """
uint64 guid
int64 number
float64 significant_height
float64 peak_period
""",
    SEA_RESPONSE: """
uint64 guid
int64 number
bool success
string message
""",
    SONAR_DATA: """
uint32 DTYPE_UINT8=0
uint32 DTYPE_INT8=1
uint32 DTYPE_UINT16=2
uint32 DTYPE_INT16=3
uint32 DTYPE_UINT32=4
uint32 DTYPE_INT32=5
uint32 DTYPE_UINT64=6
uint32 DTYPE_INT64=7
uint32 DTYPE_FLOAT32=8
uint32 DTYPE_FLOAT64=9
bool is_bigendian
uint32 dtype
uint32 beam_count
uint8[] data
""",
    SONAR: """
std_msgs/Header header
marine_acoustic_msgs/PingInfo ping_info
float32 sample_rate
uint32 samples_per_beam
uint32 sample0
float32[] tx_delays
float32[] tx_angles
float32[] rx_angles
marine_acoustic_msgs/SonarImageData image
""",
    DVL: """
uint8 DVL_MODE_BOTTOM=1
uint8 DVL_MODE_WATER=2
uint8 DVL_TYPE_PISTON=0
uint8 DVL_TYPE_PHASED_ARRAY=1
std_msgs/Header header
uint8 velocity_mode
uint8 dvl_type
geometry_msgs/Vector3 velocity
float64[9] velocity_covar
float64 altitude
float64 course_gnd
float64 speed_gnd
uint8 num_good_beams
float32 sound_speed
bool beam_ranges_valid
bool beam_velocities_valid
geometry_msgs/Vector3[4] beam_unit_vec
float64[4] range
float32[4] range_covar
float32[4] beam_quality
float32[4] beam_velocity
float32[4] beam_velocity_covar
""",
    FLAG: """
uint8 DETECT_OK=0
uint8 DETECT_BAD_SONAR=1
uint8 DETECT_BAD_FILTER=2
uint8 DETECT_BAD_USER=4
uint8 flag
""",
    DETECTIONS: """
std_msgs/Header header
marine_acoustic_msgs/PingInfo ping_info
marine_acoustic_msgs/DetectionFlag[] flags
float32[] two_way_travel_times
float32[] tx_delays
float32[] intensities
float32[] tx_angles
float32[] rx_angles
""",
    PROJECTED: """
std_msgs/Header header
marine_acoustic_msgs/PingInfo ping_info
geometry_msgs/Vector3[] beam_directions
float32[] ranges
marine_acoustic_msgs/SonarImageData image
""",
}


def register(store: Any) -> None:
    """Make these messages known to a type store of rosbags."""
    from rosbags.typesys import get_types_from_msg

    types: dict[str, Any] = {}
    for name, text in _TEXTS.items():
        types |= get_types_from_msg(text, name)
    store.register(types)
