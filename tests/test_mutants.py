"""The list of mistakes made on purpose is one that can be tried."""

import mutants
import pytest

LIST = mutants.mutants()


@pytest.mark.parametrize("mutant", LIST, ids=lambda m: m.what)
def test_the_line_to_spoil_is_there_once_and_its_tests_exist(mutant):
    path = mutants.ROOT / "soar_il" / mutant.file
    compile(mutants.spoilt(path.read_text(), mutant), str(path), "exec")
    for test in mutant.tests:
        assert mutants.chosen(test)[0].exists()


def test_there_are_enough_of_every_kind():
    kinds = [m.kind for m in LIST]
    assert len(LIST) >= 80
    for kind in ("leak", "optimism", "backup", "cost", "resume", "statistics"):
        assert kinds.count(kind) >= 8, kind
    assert len({m.what for m in LIST}) == len(LIST)


def test_a_share_has_some_of_every_kind_and_all_of_it_is_the_list():
    """So that CI, which has no time for all, tries each kind."""
    assert mutants.sample(1.0) == LIST
    some = mutants.sample(0.1)
    assert {m.kind for m in some} == {m.kind for m in LIST}
    assert len(LIST) / 10 <= len(some) <= len(LIST) / 5
