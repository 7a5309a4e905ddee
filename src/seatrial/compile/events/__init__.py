"""What happens when: faults, triggers, orders by the clock, periods of sensors."""
