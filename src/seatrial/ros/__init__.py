"""ROS: message definitions and conversions, for recordings and bridges alike."""
