"""What feels acceleration, rotation, or which way is north."""
