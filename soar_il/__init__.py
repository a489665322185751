"""soar-il: imitation learning with soft optimistic actor-critics, after the IL-SOAR paper."""

__version__ = "0.1.0"
