"""What the reading of language means, measured: `python -m benchmarks.meaning`."""

from benchmarks.meaning.tables import main

main()
