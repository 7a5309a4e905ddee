"""What stays of a run: the recording, its pictures and its exports.

Nothing is imported here, so that `import seatrial` pays for mcap, rosbags, xarray and matplotlib
only when a recording is written or read.
"""
