"""What the tests of whole runs share."""

import sys

import pytest

from seatrial.cli import main
from tank import FRAMES, scenario


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A dataset of the tank, to be left as it is."""
    from seatrial.datasets import make_dataset

    folder = tmp_path_factory.mktemp("data") / "seq"
    return make_dataset(scenario(), folder, frames=FRAMES, sequence="02")


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
