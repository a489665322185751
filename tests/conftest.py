import os
import signal
from importlib.metadata import version
from pathlib import Path

TESTS = Path(__file__).parent

# Programs are compiled with little optimisation, in one piece, and by the older of XLA's two code
# generators: in half the time, and with the same bits in golden.json. XLA does not start with a
# flag that it does not know, so only the pinned version gets all three. All workers and child
# processes of a test run share what was compiled, small programs too; they inherit it from here,
# with the path to soar_il and to the helpers.
LOCK = TESTS.parent / "requirements.lock"
PINNED = LOCK.exists() and f"jaxlib=={version('jaxlib')}" in LOCK.read_text().split()
CHEAP = ["--xla_backend_optimization_level=0"]
if PINNED:
    CHEAP += ["--xla_cpu_use_fusion_emitters=false", "--xla_cpu_parallel_codegen_split_count=1"]
GIVEN = os.environ.get("XLA_FLAGS", "").split()
os.environ["XLA_FLAGS"] = " ".join([*GIVEN, *(flag for flag in CHEAP if flag not in GIVEN)])
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(TESTS.parent / ".compiled"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
PLACES = [str(TESTS.parent), str(TESTS), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(filter(None, PLACES)))

from jaxtyping import install_import_hook  # noqa: E402

# In tests the shapes that types speak of are checked at every call; this comes before the imports.
ROOMS = ("networks", "bases", "learners", "engine", "envs.play")
install_import_hook([f"soar_il.{room}" for room in ROOMS], "shapes.checked")

import hypothesis  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402

from soar_il.bases import BASES  # noqa: E402
from soar_il.tabular import mdps  # noqa: E402

# A background job of a shell ignores Ctrl-C, and so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
hypothesis.settings.register_profile("house", deadline=None, max_examples=200, derandomize=True)
hypothesis.settings.load_profile("house")


def pytest_collection_modifyitems(items):
    """Tests that compile the same programs come one after the other.

    Each worker is given tests that follow one another, so that one of them compiles for the rest.
    """
    items.sort(key=programs)


def programs(item):
    """The base method that a test is a case of, or nothing: such tests keep their order."""
    given = getattr(item, "callspec", None)
    said = [x.split(",")[0] for x in given.params.values() if isinstance(x, str)] if given else []
    said.append(item.path.stem.removeprefix("test_").replace("_", "-"))
    return next((name for name in said if name in BASES), "")


@pytest.fixture
def random_policies():
    """Policies [n, S, A], some of them nearly deterministic."""

    def make(mdp, count, seed=0):
        rng = np.random.default_rng(seed)
        sharpness = rng.choice([0.1, 1.0, 10.0], size=(count, 1, 1))
        logits = sharpness * rng.normal(size=(count, mdp.n_states, mdp.n_actions))
        weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
        return weights / weights.sum(axis=-1, keepdims=True)

    return make


@pytest.fixture
def garnets():
    """Random MDPs of different shapes and discounts."""
    return [
        mdps.garnet(3 + seed % 4, 2 + seed % 3, 2 + seed % 2, (0.5, 0.8, 0.95)[seed % 3], seed)
        for seed in range(12)
    ]
