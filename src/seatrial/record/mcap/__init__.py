"""Recordings as MCAP with ROS 2 messages, in ROS's frames."""
