"""A recording onto ROS 2's topics: its messages as they are, in the order and at the pace of its
log."""

import time as wall_clock
from collections.abc import Callable
from pathlib import Path
from threading import Event

from seatrial.bridges.ros2.dds import Participant, Writer, dds_type, require_dds
from seatrial.errors import RecordingError
from seatrial.ros.topics import CLOCK_TOPIC

DEPTH = 10
DISCOVERY = 1.0
"""Time that peers get to find the topics before the first message, s."""


def replay(
    recording: Path, domain: int, pace: float | None, say: Callable[[str], None], stop: Event
) -> int:
    """Publish a recording until its end, or until it is told to stop; how many messages."""
    from mcap.exceptions import McapError
    from mcap.reader import make_reader

    require_dds()
    try:
        with recording.open("rb") as file:
            reader = make_reader(file)
            summary = reader.get_summary()
            channels = {} if summary is None else summary.channels
            schemas = {} if summary is None else summary.schemas
            participant = Participant(domain)
            writers: dict[int, Writer] = {}
            for number, channel in channels.items():
                kept = bool(channel.metadata.get("offered_qos_profiles"))
                depth = 1 if channel.topic == CLOCK_TOPIC or kept else DEPTH
                kind = dds_type(schemas[channel.schema_id].name)
                writers[number] = participant.writer(f"rt{channel.topic}", kind, depth, kept)
            say(f"ros2: DDS domain {domain}, {len(writers)} topics")
            stop.wait(DISCOVERY)
            began, sent = wall_clock.perf_counter(), 0
            for _, channel, message in reader.iter_messages():
                due = 0.0 if pace is None else message.log_time / 1e9 / pace
                while not stop.is_set() and (left := due + began - wall_clock.perf_counter()) > 0:
                    stop.wait(min(left, 0.1))
                if stop.is_set():
                    break
                sent += writers[channel.id].write(message.data)
            participant.close()
            return sent
    except (OSError, McapError, KeyError) as error:
        raise RecordingError(
            f"{recording}: cannot replay the recording ({error})\n"
            "  expected: a whole .mcap file of `seatrial run`\n"
            "  to mend:  `seatrial recover` makes one out of a file that a kill cut short"
        ) from None
