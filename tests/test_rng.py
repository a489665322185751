import jax
import numpy as np

from soar_il import rng

GOLDEN = [907561307, 4183422281]


def bits(seed, k, stream):
    return jax.random.key_data(rng.at(seed, k)(stream)).tolist()


def test_a_stream_is_a_pure_function_of_seed_iteration_and_name():
    assert bits(3, 5, "collect") == bits(3, 5, "collect")
    keys = {tuple(bits(s, k, n)) for s in (0, 1) for k in (1, 2) for n in ("collect", "cost")}
    assert len(keys) == 8


def test_the_bits_are_those_of_every_other_day():
    assert bits(0, 1, "collect") == GOLDEN


def test_it_can_be_traced():
    traced = jax.jit(lambda s, k: jax.random.key_data(rng.at(s, k)("cost")))
    assert traced(np.uint32(7), np.int32(9)).tolist() == bits(7, 9, "cost")
