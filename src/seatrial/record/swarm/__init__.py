"""Recordings of swarms: one columnar Zarr store."""
