"""ROS 2 without ROS: its topics and services on DDS, by Cyclone DDS."""
