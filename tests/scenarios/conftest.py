"""What the tests of whole runs share."""

import sys

import pytest

from seatrial.cli import main


@pytest.fixture
def seatrial(monkeypatch, capsys):
    """Call the command line in this process: returns exit code, stdout and stderr."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["seatrial", *(str(w) for w in words)])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return call
