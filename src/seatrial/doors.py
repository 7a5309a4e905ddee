"""The door of a server at which anybody may knock: how many may stand in it.

Uvicorn takes as many connections as the process has descriptors, and waits for ever for one that
says nothing; with none left nobody is served, and nothing can be opened any more. Here so many wait
at most. When another one comes, the one that has stood longest without a word gives up its place.
WebSockets stand in it until they have asked to be one; how many there may be is their house's rule.
"""

import asyncio
from collections.abc import Callable
from typing import Any

MOST_STANDING = 64


def door(turned_away: Callable[[], None]) -> dict[str, Any]:
    """Settings of uvicorn; `turned_away` is called for everybody who had to go."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    standing: list[H11Protocol] = []

    class Door(H11Protocol):
        def connection_made(  # type: ignore[override]  # as uvicorn has it
            self, transport: asyncio.Transport
        ) -> None:
            super().connection_made(transport)
            # Who went, or became a WebSocket, is not among the connections any more.
            standing[:] = [*(one for one in standing if one in one.connections), self]
            if len(standing) > MOST_STANDING:
                silent = (one for one in standing if one.cycle is None)
                gone = next(silent, standing[0])
                standing.remove(gone)
                gone.transport.abort()
                turned_away()

    return {"http": Door, "backlog": MOST_STANDING}
