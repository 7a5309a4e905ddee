"""A file per effect. Each gives the wrench on the vehicle about its origin, body axes."""
