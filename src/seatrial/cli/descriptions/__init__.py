"""What is typed about a vehicle, a mesh, a map, a sensor or a file that describes one."""
