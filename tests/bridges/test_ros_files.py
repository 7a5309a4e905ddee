"""The files for people who have ROS: topics and frames that they name are those of a run."""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

import seatrial as st
from seatrial.ros.layout import TypeStore
from seatrial.ros.profiles import PROFILES
from seatrial.ros.streams import Streams
from seatrial.ros.topics import body_frame

FILES = Path(__file__).resolve().parents[2] / "ros2"


def loaded(name):
    return YAML(typ="safe").load((FILES / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def survey():
    header = st.compile_scenario("otter-survey").header
    return header, Streams(header, PROFILES["seatrial"])


def test_the_filter_of_robot_localization_finds_its_topics_and_frames(survey):
    header, streams = survey
    nodes = loaded("robot_localization.yaml")["/**"]
    filter_ = nodes["ekf_filter_node"]["ros__parameters"]
    made_by_navsat = "odometry/gps"
    kinds = {"odom": "Odometry", "imu": "Imu", "twist": "TwistWithCovarianceStamped"}
    inputs = {key: name for key, name in filter_.items() if key[:-1] in kinds}
    assert set(inputs) == {"odom0", "imu0", "imu1", "twist0"}
    for key, name in inputs.items():
        assert len(filter_[f"{key}_config"]) == 15
        if name != made_by_navsat:
            assert streams.topics[f"/otter/{name}"][0].endswith(f"/{kinds[key[:-1]]}")
    assert filter_["base_link_frame"] == body_frame("otter")
    assert filter_["world_frame"] == filter_["map_frame"] == "map"
    tf = TypeStore().read("tf2_msgs/msg/TFMessage", dict(streams.latched)["/tf_static"])
    frames = {(t.header.frame_id, t.child_frame_id) for t in tf.transforms}
    assert {("otter/base_link", f"otter/{name}") for name in ("imu", "compass", "gnss")} <= frames
    navsat = nodes["navsat_transform"]["ros__parameters"]
    assert tuple(navsat["datum"][:2]) == header.datum
    assert streams.topics["/otter/gnss"][0] == "sensor_msgs/msg/NavSatFix"


def test_nav2_finds_its_topics_and_frames():
    header = st.compile_scenario("otter-maze").header
    topics = Streams(header, PROFILES["seatrial"]).topics
    nodes = loaded("nav2.yaml")["/**"]
    named = [nodes[n]["ros__parameters"] for n in ("bt_navigator", "behavior_server")]
    named += [nodes[n][n]["ros__parameters"] for n in ("local_costmap", "global_costmap")]
    for parameters in named:
        assert parameters["global_frame"] == "map"
        assert parameters["robot_base_frame"] == body_frame("otter")
        for source in parameters.get("obstacles", {}).get("observation_sources", "").split():
            scan = parameters["obstacles"][source]
            assert topics[scan["topic"]][0] == f"sensor_msgs/msg/{scan['data_type']}"
    assert nodes["controller_server"]["ros__parameters"]["odom_topic"] == "odometry"
    assert topics["/otter/odometry"][0] == "nav_msgs/msg/Odometry"
    assert header.vehicles[0].legs  # `cmd_vel` needs an autopilot


def test_rviz_shows_what_is_published(survey):
    _, streams = survey
    for display in loaded("seatrial.rviz")["Visualization Manager"]["Displays"]:
        topic = display.get("Topic") or display.get("Description Topic")
        if topic:
            assert topic["Value"] in streams.topics
