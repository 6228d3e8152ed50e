"""How well a run did: figures with intervals, `null` with a reason where one is not defined."""
