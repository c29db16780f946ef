"""Label the rest of your graph.

heatwalk predicts the labels of all nodes of a graph from the labels of a few, and computes kernels, matrix functions,
eigenpairs and solutions that this needs. The program ``heatwalk`` runs the calls in a process of its own.

>>> import heatwalk as hw
>>> A, y = hw.datasets.cora(labelled=270)
>>> model = hw.NodeClassifier(random_state=1).fit(A, y)
>>> len(model.predict())
2708
"""

from typing import TYPE_CHECKING, Any

try:
    import numpy  # noqa: F401
    import scipy  # noqa: F401
except ImportError as error:
    raise ImportError(f"heatwalk needs NumPy and SciPy ({error}): pip install numpy scipy") from error

from . import datasets
from ._binary import binary
from ._errors import (CancelledError, CrashError, HeatwalkError, HeatwalkWarning, InputError,
                      LimitError, NotFittedError, NotFoundError, StoreError, UsageError, VersionError)
from ._graph import Graph, as_graph
from ._matrix import apply, eigsh, expm_multiply, features, kernel, solve
from ._process import Settings
from ._results import Block
from ._server import cancel
from ._store import Store
from ._tables import evaluate, methods, rank, regress, suggest
from ._version import __version__

if TYPE_CHECKING:
    from ._classifier import Model, NodeClassifier, NodeEmbedding, NodeRegressor, load

__all__ = ["Block", "CancelledError", "CrashError", "Graph", "HeatwalkError", "HeatwalkWarning",
           "InputError", "LimitError", "Model", "NodeClassifier", "NodeEmbedding", "NodeRegressor",
           "NotFittedError", "NotFoundError", "Settings", "Store", "StoreError", "UsageError",
           "VersionError", "__version__", "apply", "as_graph", "binary", "cancel", "datasets",
           "eigsh", "evaluate", "expm_multiply", "features", "kernel", "load", "methods", "rank",
           "regress", "solve", "suggest",]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import the estimators when they are used, because scikit-learn takes half a second."""
    if name not in __all__:
        raise AttributeError(f"module 'heatwalk' has no attribute {name!r}")
    from . import _classifier
    return getattr(_classifier, name)
