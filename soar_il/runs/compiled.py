"""Compiled programs are kept between processes: the second run of a kind starts at once."""

import os
from pathlib import Path

import jax


def keep_compiled_programs() -> None:
    """Use JAX's cache on disk, unless the user has already chosen one."""
    if jax.config.values["jax_compilation_cache_dir"] is None:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        jax.config.update("jax_compilation_cache_dir", str(root / "soar-il" / "compiled"))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)  # a hundred small ones
