"""A change of the code that is not meant to alter what is learned alters no bit of it."""

import json

import golden
import pytest

STORED = json.loads(golden.FILE.read_text())


@pytest.mark.parametrize("case", sorted(next(iter(STORED.values()))))  # newer methods have none
def test_the_bits_are_those_that_were_recorded(case, tmp_path):
    """On another kind of processor: the same numbers after the first iteration, to a hundredth."""
    made = golden.result(case, tmp_path / "run")
    here = STORED.get(golden.machine())
    if here is not None:
        assert made == here[case]
        return
    other = next(iter(STORED.values()))[case]["first"]
    assert made["first"] == pytest.approx(other, rel=0.02, abs=1e-3)
