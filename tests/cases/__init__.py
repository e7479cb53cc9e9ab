"""Small inputs from public reports, and where they lie."""

from pathlib import Path

CASES = Path(__file__).parent


def read_case(name: str, date: str = "2026-11-27") -> bytes:
    """Return the bytes of a case; README.md beside it has the expected value."""
    return (CASES / date / name).read_bytes()
