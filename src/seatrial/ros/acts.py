"""What people did to a run, as the log messages that every viewer of ROS recordings lists."""

from seatrial.engine.frames import Act, read_act, write_details
from seatrial.ros.layout import Message, MessageFactory, TypeStore

ACTS_TOPIC = "/acts"
ACTS_TYPE = "rcl_interfaces/msg/Log"

_INFO = 20
"""Level of a message that is no warning."""


def encode_act(store: TypeStore, act: Act) -> bytes:
    """Who as the name of the logger, what as the function, the details as the text."""
    nanoseconds = round(act.time * 1e9)

    def build(factory: MessageFactory) -> Message:
        stamp = factory.make("builtin_interfaces/msg/Time", *divmod(nanoseconds, 1_000_000_000))
        return factory.make(ACTS_TYPE, stamp, _INFO, act.who, write_details(act), "", act.what, 0)

    return store.serialise(ACTS_TYPE, build)


def decode_act(store: TypeStore, logged: int, data: bytes) -> Act:
    """The act back; a ValueError, KeyError or TypeError says that it is none."""
    message = store.read(ACTS_TYPE, data)
    return read_act(logged / 1e9, message.name, message.function, message.msg)
