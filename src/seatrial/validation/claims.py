"""Statements of a paper, and whether seatrial's results bear them out."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Claim:
    """One statement and the figures that decide it."""

    statement: str
    holds: bool
    evidence: str

    def as_json(self) -> dict[str, object]:
        """For a file."""
        return asdict(self)


def lines(claims: list[Claim]) -> list[str]:
    """One line of text per claim."""
    return [f"{'yes' if c.holds else 'NO '}  {c.statement}: {c.evidence}" for c in claims]
