"""A vehicle in a sea as a Functional Mock-up Unit, for co-simulation with other people's parts."""
