"""The rosbridge protocol, version 2: for roslibjs, roslibpy and whatever opens a WebSocket."""
