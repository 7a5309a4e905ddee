"""What measures the machinery: battery, shafts, rudder angles."""
