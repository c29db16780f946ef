"""Label the rest of your graph.

heatwalk predicts the labels of all nodes of a graph from the labels of a few, and computes kernels,
matrix functions, eigenpairs and solutions that this needs. Each call runs the program ``heatwalk`` in a
process of its own.

>>> import heatwalk as hw
>>> A, y = hw.datasets.cora(labelled=270)
>>> model = hw.NodeClassifier().fit(A, y)
>>> len(model.predict())
2708
"""

from . import datasets
from ._binary import binary
from ._classifier import NodeClassifier
from ._errors import (CrashError, HeatwalkError, HeatwalkWarning, InputError, LimitError, NotFittedError, NotFoundError,
                      StoreError, UsageError, VersionError)
from ._graph import Graph, as_graph
from ._matrix import apply, eigsh, expm_multiply, features, kernel, solve
from ._results import Block
from ._store import Store
from ._tables import evaluate, methods, rank, regress, suggest
from ._version import __version__

__all__ = [
    "Block", "CrashError", "Graph", "HeatwalkError", "HeatwalkWarning", "InputError", "LimitError", "NodeClassifier",
    "NotFittedError", "NotFoundError", "Store", "StoreError", "UsageError", "VersionError", "__version__", "apply",
    "as_graph", "binary", "datasets", "eigsh", "evaluate", "expm_multiply", "features", "kernel", "methods", "rank",
    "regress", "solve", "suggest",
]
