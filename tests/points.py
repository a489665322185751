"""``points:Point-v0``: the point mass by an id that any process can make."""

import tiny

tiny.register()
