"""A scenario of seatrial with RViz and robot_localization beside it."""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess
from launch.substitutions import EnvironmentVariable, LaunchConfiguration
from launch_ros.actions import Node

HERE = Path(__file__).parent


def generate_launch_description() -> LaunchDescription:
    """What `ros2 launch` starts."""
    scenario, vehicle = LaunchConfiguration("scenario"), LaunchConfiguration("vehicle")
    simulated = {"use_sim_time": True}
    domain = EnvironmentVariable("ROS_DOMAIN_ID", default_value="0")
    return LaunchDescription(
        [
            DeclareLaunchArgument("scenario", default_value="otter-survey"),
            DeclareLaunchArgument("vehicle", default_value="otter"),
            ExecuteProcess(
                cmd=["seatrial", "run", scenario, "--ros2", "--domain", domain], output="screen"
            ),
            Node(
                package="robot_localization",
                executable="ekf_node",
                namespace=vehicle,
                parameters=[str(HERE / "robot_localization.yaml"), simulated],
                remappings=[("odometry/filtered", "odometry_filtered")],
            ),
            Node(
                package="robot_localization",
                executable="navsat_transform_node",
                namespace=vehicle,
                parameters=[str(HERE / "robot_localization.yaml"), simulated],
                remappings=[
                    ("imu", "compass"),
                    ("gps/fix", "gnss"),
                    ("odometry/filtered", "odometry_filtered"),
                ],
            ),
            Node(
                package="rviz2",
                executable="rviz2",
                arguments=["-d", str(HERE / "seatrial.rviz")],
                parameters=[simulated],
            ),
        ]
    )
