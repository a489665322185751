"""Each way to be wrong has one message: where it is and what to do."""

import re

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
import wrong_arrays
import wrong_files
from hypothesis import given, settings
from wrong_arrays import good
from wrong_files import pendulum

from soar_il.demos import Demos
from soar_il.demos.alone import notices
from soar_il.demos.check import check
from soar_il.errors import DemoError, DemoWarning

CASES = wrong_arrays.CASES | wrong_files.CASES


def test_no_case_hides_another():
    assert len(CASES) == len(wrong_arrays.CASES) + len(wrong_files.CASES)


def test_there_are_enough_cases():
    assert len(CASES) >= 100


@pytest.mark.filterwarnings("ignore::soar_il.errors.DemoWarning")
@pytest.mark.parametrize("name", CASES)
def test_says_where_and_what_to_do(name, tmp_path):
    case, message = CASES[name]
    with pytest.raises(DemoError) as caught:
        case(tmp_path)
    text = str(caught.value).replace(f"{tmp_path}/", "")
    assert re.search(message, text), text
    assert caught.value.do


def test_a_good_set_passes_every_check(tmp_path):
    demos = Demos.from_arrays(*good())
    assert notices(demos) == []
    assert Demos.load(demos.save(tmp_path / "x.demos")).hash == demos.hash
    found = check(Demos.from_arrays(**pendulum()), "Pendulum-v1")  # noise, but in its bounds
    assert [notice.what[:28] for notice in found] == ["states do not follow from ea"]


usable = st.floats(-(2.0**59), 2.0**59, width=32)


@st.composite
def valid_sets(draw):
    d_s, d_a = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    dtype = draw(st.sampled_from(["<f4", ">f4", "<f8", "<i4"]))
    elements = st.integers(-(2**24), 2**24) if dtype == "<i4" else usable
    s = [draw(hnp.arrays(dtype, (n + 1, d_s), elements=elements)) for n in lengths]
    a = [draw(hnp.arrays(dtype, (n, d_a), elements=elements)) for n in lengths]
    layout = draw(st.sampled_from(["list", "flat", "padded"]))
    ended = np.array(draw(st.lists(st.booleans(), min_size=len(s), max_size=len(s))))
    if layout == "flat":
        return np.concatenate(s), np.concatenate(a), lengths, ended
    if layout == "padded":
        longest = max(lengths)
        pad = [np.pad(x, ((0, longest + 1 - len(x)), (0, 0))) for x in s]
        return (
            np.stack(pad),
            np.stack([np.pad(x, ((0, longest - len(x)), (0, 0))) for x in a]),
            (lengths),
            ended,
        )
    return s, a, None, ended


@settings(max_examples=1000)
@given(valid_sets(), st.booleans())
def test_no_false_alarm(tmp_path_factory, given_set, as_npz):
    s, a, lengths, ended = given_set
    demos = Demos.from_arrays(s, a, lengths, ended)
    if demos.transitions % 10 == 0:  # disks are slow
        path = tmp_path_factory.mktemp("valid") / ("x.npz" if as_npz else "x.demos")
        assert Demos.load(demos.save(path)).hash == demos.hash
    assert demos.without_actions().transitions == demos.transitions
    assert demos.subsample(2, 0).transitions <= demos.transitions


def test_warnings_are_of_their_own_kind():
    s, a = good()
    with pytest.warns(DemoWarning, match="3 of 3 trajectories lack"):
        Demos.from_arrays(s[:, :-1], a)
