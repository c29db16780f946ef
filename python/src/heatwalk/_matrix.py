"""Kernels, features, functions of matrices, eigenpairs and solutions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping, Union

import numpy as np
from numpy.typing import NDArray

from ._call import Call, rows_of, run_call
from ._folder import read_array
from ._graph import Graph, as_array, as_graph, bytes_of, labels_of, nodes_of, widen
from ._labels import Labels, encode
from ._process import Settings
from ._results import Block

if TYPE_CHECKING:
    from typing_extensions import Unpack

Path = Union[str, "os.PathLike[str]"]
Array = NDArray[Any]


def _output(call: Call, out: Path | None) -> str:
    """Return the path of the result: out, or a file of the folder."""
    return call.path("result.npy", "out") if out is None else os.fspath(out)


def _checked(out: Path | None, dtype: Any) -> str:
    """Return the name of a type, after a check of the file of the result."""
    if out is not None and not os.fspath(out).endswith(".npy"):
        raise ValueError(f"out is {os.fspath(out)!r}; give a file with the ending .npy")
    return str(np.dtype(dtype).name)


def kernel(graph: Any, kernel: str = "diffusion", rows: Any = None, cols: Any = None, *,
           labels: Any = None, dtype: Any = "float32", tol: float | None = None,
           out: Path | None = None, **settings: Unpack[Settings]) -> Block:
    """Compute the values of a kernel between nodes; PageRank is 1 at a node without edges.

    Parameters
    ----------
    graph, kernel
        A graph in any form that :func:`as_graph` takes, and a kernel with its parameters, as in ``"diffusion:beta=2"``;
        :func:`methods` lists all.
    rows, cols
        Nodes of the rows and columns, or a mask of all nodes; all nodes if left out.
    labels
        Labels, which the kernel ``cwk`` of walks starts from.
    dtype
        The precision of the values.
    tol
        The largest error of a value, relative to the largest value in its columns.
    out
        A ``.npy`` file for the block, of which the result is a map. ``out.run.json`` is the report of the program, and
        files that end in ``.ids`` have the ids of the nodes.
    **settings
        Threads, max_memory and progress, see :class:`Settings`.

    Examples
    --------
    >>> import heatwalk as hw
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> K = hw.kernel(path, "diffusion:beta=1", cols=[0, 2], dtype="float64")
    >>> K.array.round(3)
    array([[0.468, 0.1  ],
           [0.306, 0.306],
           [0.1  , 0.468]])
    """
    if labels is None and kernel.partition(":")[0] == "cwk":
        raise ValueError("labels is missing: the walks of the kernel cwk start from labelled "
                         "nodes; give an array or a dict, as for y")
    name, g = _checked(out, dtype), as_graph(graph)
    chosen = {"rows": rows_of(g, rows, "rows"), "cols": rows_of(g, cols, "cols")}
    size = np.dtype(name).itemsize
    for array in chosen.values():
        size *= g.n if array is None else len(array)
    def work(call: Call) -> Block:
        path = _output(call, out)
        files: Any = {axis: call.write(f"{axis}.npy", axis, rows) for axis, rows in chosen.items()}
        if labels is not None:
            files["labels"] = call.write_labels(encode(labels_of(g, labels), g.n))
        run = call.run("kernel", kernel=kernel, dtype=name, o=path, tolerance=tol, **files)
        axes = [nodes_of(g) if a is None else (nodes_of(g), a.tolist()) for a in chosen.values()]
        return Block(read_array(path, out is not None), axes[0], axes[1], run)
    return run_call(g, settings, 0 if out is not None else size, work)


def features(graph: Any, labels: Any, spec: str = "cwk", *, honest: bool = False,
             dtype: Any = "float32", out: Path | None = None, **settings: Unpack[Settings]) -> Block:
    """Compute the features of coinciding walks, F with K = FFᵀ.

    Parameters
    ----------
    graph
        A graph in any form that :func:`as_graph` takes.
    labels
        Labels of some nodes, as in :meth:`NodeClassifier.fit`.
    spec
        The kernel, as in ``"cwk:alpha=0.5:steps=10"``.
    honest
        Whether the row of a labelled node is computed without the labels of its fold. Otherwise it contains its own
        label, so that a classifier learns too much from it.
    dtype
        The precision of the features.
    out
        A ``.npy`` file for the features, of which the result is a map.
    **settings
        Threads, max_memory, progress and, for the folds of honest features, random_state, see :class:`Settings`.

    Returns
    -------
    Block
        A row for each node; the columns are pairs (step, class).
    """
    g = as_graph(graph)
    return features_of(g, encode(labels_of(g, labels), g.n), spec, honest=honest, dtype=dtype, out=out, **settings)


def features_of(g: Graph, encoded: Labels, spec: str, *, honest: bool, dtype: Any = "float32",
                out: Path | None = None, **settings: Any) -> Block:
    """Compute features as :func:`features` does, of encoded labels."""
    name = _checked(out, dtype)
    def work(call: Call) -> Block:
        path = _output(call, out)
        run = call.run("features", kernel=spec, dtype=name, labels=call.write_labels(encoded),
                       features="honest" if honest else None, o=path, is_random=honest)
        with open(path[:-4] + ".cols.ids", encoding="utf-8") as file:
            pairs = [line.rstrip("\n").split(":") for line in file]
        classes = encoded.classes.tolist()
        cols = [(int(step), classes[int(code)]) for step, code in pairs]
        return Block(read_array(path, out is not None), nodes_of(g), cols, run)
    return run_call(g, settings, bytes_of(g), work)


def _block(B: Any, g: Graph, name: str = "B") -> Any:
    """Return a block of numbers with a row for each node; values of pandas follow their index."""
    B = nodes_of(g).align(B, name)
    if hasattr(B, "toarray"):
        B = widen(B).toarray()
    B = np.asarray(as_array(B))
    if B.dtype.kind not in "biuf":
        raise ValueError(f"{name} has elements of type {B.dtype}; it needs real numbers")
    if B.ndim not in (1, 2) or B.shape[0] != g.n:
        raise ValueError(f"{name} has shape {B.shape}; it needs a row for each of {g.n} nodes")
    return B if B.dtype in (np.float32, np.float64) and B.dtype.isnative else B.astype(np.float64)


def apply(graph: Any, function: str, B: Any, *, tol: float | None = None, dtype: Any = "float64",
          out: Path | None = None, self_loops: bool = True, **settings: Unpack[Settings]) -> Block:
    """Multiply a matrix of the graph, or a function of one, with a block: f(M)·B.

    Parameters
    ----------
    graph
        A graph in any form that :func:`as_graph` takes.
    function
        ``"adjacency"``, ``"transition"``, ``"laplacian"`` and so on for the matrix itself;
        ``"exp:t=-2:matrix=laplacian"``; ``"solve:shift=1:matrix=laplacian"``; or a kernel. The result of several times,
        as in ``"exp:t=-1,-2"``, has the columns of each time in turn.
    B
        The block, a row for each node. Rows of a series or frame of pandas are found by its index.
    tol
        The largest error of a column relative to its norm, or if left out 1e-8 of the result's.
    dtype
        The precision of the result.
    out
        A ``.npy`` file for the result, which is a map of it.
    self_loops
        Whether the diagonal counts, as in SciPy; that of a store is as it was made.
    **settings
        Threads, max_memory and progress, see :class:`Settings`.

    Returns
    -------
    Block
        A block, whose ``error_bound`` bounds the norm of the error of each column.
    """
    g = as_graph(graph)
    return _apply(g, function, _block(B, g), tol, settings, self_loops, _checked(out, dtype), out)


def _apply(g: Graph, function: str, B: Array, tol: float | None, settings: Settings,
           loops: bool = True, dtype: str = "float64", out: Path | None = None) -> Block:
    """Run apply."""
    tol = None if tol == 1e-8 else tol  # the default, which is met as far as rounding allows
    def work(call: Call) -> Block:
        path = _output(call, out)
        run = call.run("apply", function=function, block=call.write("B.npy", "B", B), dtype=dtype,
                       o=path, tolerance=tol)
        array = read_array(path, out is not None)
        width = array.shape[1]
        return Block(array[:, 0] if B.ndim == 1 and width == 1 else array, nodes_of(g), range(width), run)
    results = 1 + function.count(",")  # of several times
    return run_call(g, settings, (1 + results) * 8 * B.size, work, loops)


def expm_multiply(A: Any, B: Any, start: float | None = None, stop: float | None = None,
                  num: int | None = None, endpoint: bool | None = None, *, t: float = 1.0,
                  matrix: str = "adjacency", tol: float = 1e-8, **settings: Unpack[Settings]) -> Array:
    """Compute exp(tM)·B, as :func:`scipy.sparse.linalg.expm_multiply` does for symmetric A ≥ 0.

    Parameters
    ----------
    A, B
        The adjacency matrix, or a graph in any form that :func:`as_graph` takes, and the block.
    start, stop, num, endpoint
        As in SciPy: the result has an entry for each of ``num`` times, which t multiplies, for about the cost of the
        longest time.
    t
        The factor of the matrix. The diffusion exp(−βL) has t = −β and ``matrix="laplacian"``.
    matrix : {"adjacency", "normalized-adjacency", "laplacian", "normalized-laplacian"}
        The matrix M of the graph.
    tol
        The largest error of a column, relative to its norm. An error names a tolerance that float64 can promise if it
        cannot promise this one.
    **settings
        Threads, max_memory and progress, see :class:`Settings`.

    Returns
    -------
    numpy.ndarray
        Of the shape of B, after the times if there are some.
    """
    g = as_graph(A)
    B = _block(B, g)
    if start is None and stop is None:
        times = np.array([1.0])
    elif start is None or stop is None:
        raise ValueError("start and stop are given together")
    else:
        times = np.linspace(start, stop, 50 if num is None else num, endpoint in (None, True))
    if not len(times):
        raise ValueError("num is 0; give 1 or more")
    text = ",".join(repr(float(t * time)) for time in times)
    array = _apply(g, f"exp:t={text}:matrix={matrix}", B, tol, settings).array
    if start is None:
        return array
    return np.moveaxis(array.reshape(g.n, len(times), -1), 1, 0).reshape(len(times), *B.shape)


def solve(A: Any, b: Any, x0: Any = None, *, shift: float = 0.0, matrix: str = "laplacian",
          rtol: float = 1e-8, **settings: Unpack[Settings]) -> tuple[Array, int]:
    """Solve (L + shift·I)·x = b for a Laplacian L of the graph.

    Parameters
    ----------
    A, b, x0
        A matrix or graph in any form that :func:`as_graph` takes, the right-hand sides, and a start that is not used,
        as in :func:`scipy.sparse.linalg.cg`.
    shift
        With 0, the result is L⁺·b, with the pseudo-inverse L⁺.
    matrix : {"laplacian", "normalized-laplacian"}
        The Laplacian.
    rtol
        The largest error of a column of x, relative to its norm.
    **settings
        Threads, max_memory and progress, see :class:`Settings`.

    Returns
    -------
    x : numpy.ndarray
        The solution, of the shape of b.
    info : int
        0, because a failure is an exception.
    """
    g = as_graph(A)
    function = f"solve:shift={float(shift)!r}:matrix={matrix}"
    return _apply(g, function, _block(b, g, "b"), rtol, settings).array, 0


def _eigenpairs(g: Graph, k: int, matrix: str, which: str, tol: float,
                settings: Mapping[str, Any]) -> tuple[Array, Array]:
    """Return eigenvalues in increasing order and eigenvectors at an end of the spectrum.

    Vectors of components stay first of those that rounding cannot tell apart.
    """
    def work(call: Call) -> tuple[Array, Array]:
        path = call.path("vectors.npy", "out")
        run = call.run("eigen", matrix=matrix, which=which, k=k, tolerance=tol, o=path)
        values = np.asarray(run["values"], dtype=np.float64)
        order = np.arange(k)[::-1 if which == "largest" else 1]
        return np.sort(values), np.asarray(read_array(path))[:, order]
    return run_call(g, settings, 8 * k * g.n, work, True)


def eigsh(A: Any, k: int = 6, M: None = None, sigma: None = None, which: str = "LM", *,
          matrix: str = "adjacency", tol: float = 1e-8, return_eigenvectors: bool = True,
          **settings: Unpack[Settings]) -> Any:
    """Compute eigenpairs of a matrix of the graph, as :func:`scipy.sparse.linalg.eigsh` does.

    Parameters
    ----------
    A
        The adjacency matrix, with entries ≥ 0, or a graph in any form that :func:`as_graph` takes.
    k, M, sigma
        The number of eigenpairs; None; None.
    which : {"LM", "LA", "SA"}
        The largest in magnitude, the largest, or the smallest eigenvalues.
    matrix
        Adjacency, normalized-adjacency, transition, laplacian, normalized-laplacian or modularity.
    tol
        The largest residual, relative to the norm of the matrix.
    return_eigenvectors
        Whether to return the vectors too.
    **settings
        Threads, max_memory, progress and random_state, see :class:`Settings`.

    Returns
    -------
    w : numpy.ndarray
        The eigenvalues in increasing order.
    v : numpy.ndarray
        The orthonormal eigenvectors as columns, if return_eigenvectors is true.
    """
    if M is not None:
        raise ValueError("M is not supported: generalized problems are those of "
                         "matrix=\"transition\" or \"normalized-laplacian\"")
    if sigma is not None:
        raise ValueError("sigma is not supported: take which=\"SA\" for the smallest eigenvalues, and "
                         "scipy.sparse.linalg.eigsh for those inside the spectrum")
    g = as_graph(A)
    if which not in ("LM", "LA", "SA"):
        raise ValueError(f"which={which!r} is not supported; give LM, LA or SA")
    end = "smallest" if which == "SA" else "largest"
    w, v = _eigenpairs(g, k, matrix, end, tol, settings)
    # A Laplacian has no negative eigenvalues.
    if end == "largest" and which == "LM" and not matrix.endswith("laplacian"):
        low, vectors = _eigenpairs(g, k, matrix, "smallest", tol, settings)
        # Both ends may have vectors of one eigenspace. Those of eigenvalues ≥ 0 are taken from the
        # upper end alone, which has as many of them as there can be among the k largest.
        zero = -1e-7 * max(abs(low[0]), abs(w[-1]))
        w, v = (np.concatenate([a[..., low < zero], b[..., w >= zero]], axis=-1) for a, b in ((low, w), (vectors, v)))
        order = np.sort(np.argsort(-np.abs(w), kind="stable")[:k])
        w, v = w[order], v[:, order]
    return (w, v) if return_eigenvectors else w
