"""NMEA 0183 and AIS: what a vessel's instruments say, and sentences that steer."""
