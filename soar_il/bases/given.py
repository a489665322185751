"""What a base method is told of the run that it is part of."""

from typing import NamedTuple


class Given(NamedTuple):
    """Sizes that follow from the environment and from the learner's settings."""

    horizon: int  # steps of the longest episode
    fresh: int  # transitions that one iteration adds, at the most
    hidden: tuple[int, ...]  # sizes of the actor's hidden layers
    discount: float = 0.99  # gamma of the learner
