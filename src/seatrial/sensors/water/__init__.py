"""What measures the water and the air: their motion, pressure and properties."""
