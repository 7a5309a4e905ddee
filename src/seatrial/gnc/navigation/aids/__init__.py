"""The sensors that can aid an inertial filter, by what they tell: `aiding.Aid`s."""
