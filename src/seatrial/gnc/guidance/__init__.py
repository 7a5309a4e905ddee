"""Where to steer: laws that follow a leg, handover between waypoints, patterns, fences.

What runs in the loop is JAX with vehicles on the last axis; patterns and paths come from the host.
"""
