"""Eighteen minutes without a fix, beside a published dead reckoning."""
