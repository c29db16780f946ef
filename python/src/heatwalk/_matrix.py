"""Kernels, features, functions of matrices, eigenpairs and solutions."""

from __future__ import annotations

import os
from typing import Any, Hashable, Mapping, Sequence

import numpy as np

from ._call import Call, nodes_at, rows_of
from ._folder import call_in_folder, read_array
from ._graph import Graph, as_graph, labels_of
from ._labels import encode
from ._process import Progress
from ._results import Block


def _output(call: Call, out: str | os.PathLike[str] | None) -> str:
    """Return the path of the result: out, or a file of the folder."""
    return os.fspath(out) if out is not None else call.path("result.npy", "out")


def kernel(graph: Any, kernel: str = "diffusion", rows: Sequence[Hashable] | None = None, cols: Sequence[Hashable] | None = None, *,
           labels: Any = None, dtype: str = "float32", tol: float | None = None, out: str | os.PathLike[str] | None = None,
           threads: int | None = None, max_memory: str | int | None = None, progress: Progress = None) -> Block:
    """Compute the values of a kernel between nodes.

    Parameters
    ----------
    graph : object
        A graph in any form that :func:`as_graph` takes.
    kernel : str
        The kernel with its parameters, as in ``"diffusion:beta=2"``. :func:`methods` lists all.
    rows, cols : sequence, optional
        Nodes of the rows and columns, or a mask of all nodes; all nodes if left out.
    labels : array or dict, optional
        Labels, which the kernel ``cwk`` of walks starts from.
    dtype : {"float32", "float64"}
        The precision of the values.
    tol : float, optional
        The largest error of a value, relative to the largest value in its columns.
    out : path, optional
        A ``.npy`` file for the block, of which the result is a map.
    threads, max_memory, progress
        The number of threads, the largest resident memory, such as "4GiB", and the display of progress;
        they do not change the result.

    Returns
    -------
    Block

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
        raise ValueError("labels is missing: the walks of the kernel cwk start from labelled nodes; give an array or a dict, as for y")
    g = as_graph(graph)
    at, across = rows_of(g, rows, "rows"), rows_of(g, cols, "cols")
    size = (g.n if at is None else len(at)) * (g.n if across is None else len(across)) * np.dtype(dtype).itemsize

    def work(folder: str) -> Block:
        call = Call(folder, g, dict(threads=threads, max_memory=max_memory, progress=progress))
        path = _output(call, out)
        args = ["--kernel", kernel, "--dtype", dtype, "-o", path]
        if at is not None:
            args += ["--rows", call.write_ids("rows.ids", "rows", at)]
        if across is not None:
            args += ["--cols", call.write_ids("cols.ids", "cols", across)]
        if labels is not None:
            args += ["--labels", call.write_labels(encode(labels_of(g, labels), g.n))]
        if tol is not None:
            args += ["--tolerance", repr(tol)]
        run = call.run("kernel", *args)
        return Block(read_array(path, out is not None), nodes_at(g, at), nodes_at(g, across), run)

    return call_in_folder(g.bytes() + (0 if out is not None else size), work)


def features(graph: Any, labels: Any, spec: str = "cwk", *, dtype: str = "float32", out: str | os.PathLike[str] | None = None,
             threads: int | None = None, max_memory: str | int | None = None, progress: Progress = None) -> Block:
    """Compute the features of coinciding walks, F with K = FFᵀ.

    Parameters
    ----------
    graph : object
        A graph in any form that :func:`as_graph` takes.
    labels : array or dict
        Labels of some nodes, as in :meth:`NodeClassifier.fit`.
    spec : str
        The kernel, as in ``"cwk:alpha=0.5:steps=10"``.

    Returns
    -------
    Block
        A row for each node; the columns are pairs (step, class).

    Examples
    --------
    >>> import heatwalk as hw
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> F = hw.features(path, {0: "a", 2: "b"}, "cwk:steps=2")
    >>> F.shape, F.cols[:3]
    ((3, 6), [(0, 'a'), (0, 'b'), (1, 'a')])
    """
    g = as_graph(graph)
    encoded = encode(labels_of(g, labels), g.n)

    def work(folder: str) -> Block:
        call = Call(folder, g, dict(threads=threads, max_memory=max_memory, progress=progress))
        path = _output(call, out)
        run = call.run("features", "--kernel", spec, "--dtype", dtype, "--labels", call.write_labels(encoded), "-o", path)
        with open(path[:-4] + ".cols.ids", encoding="utf-8") as file:
            pairs = [line.rstrip("\n").split(":") for line in file]
        cols = [(int(step), encoded.classes[int(code)].item()) for step, code in pairs]
        return Block(read_array(path, out is not None), nodes_at(g, None), cols, run)

    return call_in_folder(2 * g.bytes(), work)


def _block(B: Any, n: int, name: str = "B") -> Any:
    """Return a block of real numbers with n rows."""
    if hasattr(B, "toarray"):
        B = B.toarray()
    B = np.asarray(B)
    if B.dtype.kind not in "biuf":
        raise ValueError(f"{name} has elements of type {B.dtype}; it needs real numbers")
    if B.ndim not in (1, 2) or B.shape[0] != n:
        raise ValueError(f"{name} has shape {B.shape}; it needs a row for each of {n} nodes")
    return B if B.dtype in (np.float32, np.float64) else B.astype(np.float64)


def apply(graph: Any, function: str, B: Any, *, tol: float | None = None, dtype: str = "float64",
          out: str | os.PathLike[str] | None = None, threads: int | None = None, max_memory: str | int | None = None,
          progress: Progress = None, self_loops: bool = False) -> Block:
    """Multiply a matrix of the graph, or a function of one, with a block: f(M)·B.

    Parameters
    ----------
    graph : object
        A graph in any form that :func:`as_graph` takes.
    function : str
        ``"adjacency"``, ``"transition"``, ``"laplacian"`` and so on for the product with a matrix;
        ``"exp:t=-2:matrix=laplacian"``; ``"solve:shift=1:matrix=laplacian"``; or a kernel. Several times
        share their work, as in ``"exp:t=-1,-2"``; the result has the columns of each time in turn.
    B : array of shape (n,) or (n, k)
        The block, with rows in the order of the nodes.
    tol : float, optional
        The largest error relative to the norm of the result; 1e-8 if left out.
    self_loops : bool
        Whether the diagonal of the matrix counts, as it does for SciPy.

    Returns
    -------
    Block
        Its ``error_bound`` bounds the norm of the error of each column.

    Examples
    --------
    >>> import heatwalk as hw
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> hw.apply(path, "laplacian", [1, 0, 0]).array
    array([ 1., -1.,  0.])
    """
    g = as_graph(graph)
    B = _block(B, g.n)

    def work(folder: str) -> Block:
        call = Call(folder, g, dict(threads=threads, max_memory=max_memory, progress=progress))
        path = _output(call, out)
        args = ["--function", function, "--block", call.write("B.npy", "B", B), "--dtype", dtype, "-o", path]
        if tol is not None:
            args += ["--tolerance", repr(float(tol))]
        if self_loops and g.matrix is not None:
            args += ["--self-loops", "keep"]
        run = call.run("apply", *args)
        array = read_array(path, out is not None)
        width = array.shape[1]
        return Block(array[:, 0] if B.ndim == 1 and width == 1 else array, nodes_at(g, None), range(width), run)

    results = 1 + function.count(",")  # of several times
    return call_in_folder(g.bytes() + (1 + results) * 8 * B.size, work)


def expm_multiply(A: Any, B: Any, start: float | None = None, stop: float | None = None, num: int | None = None,
                  endpoint: bool | None = None, *, t: float = 1.0, matrix: str = "adjacency", tol: float = 1e-8,
                  threads: int | None = None, max_memory: str | int | None = None, progress: Progress = None) -> Any:
    """Compute exp(tM)·B, as :func:`scipy.sparse.linalg.expm_multiply` does for symmetric A ≥ 0.

    Parameters
    ----------
    A : object
        The adjacency matrix, or a graph in any form that :func:`as_graph` takes.
    B : array of shape (n,) or (n, k)
        The block.
    start, stop, num, endpoint
        As in SciPy: with them the result has an entry for each of ``num`` times, which t multiplies. They
        are computed together, for about the cost of the longest time.
    t : float
        The factor of the matrix. The diffusion exp(−βL) has t = −β and ``matrix="laplacian"``.
    matrix : {"adjacency", "normalized-adjacency", "laplacian", "normalized-laplacian"}
        The matrix M of the graph.
    tol : float
        The largest error, relative to the norm of the result.

    Returns
    -------
    numpy.ndarray

    Examples
    --------
    >>> import numpy as np
    >>> import heatwalk as hw
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> hw.expm_multiply(path, np.array([1., 0., 0.]), t=-1, matrix="laplacian").round(4)
    array([0.5256, 0.3167, 0.1577])
    """
    g = as_graph(A)
    B = _block(B, g.n)
    if start is None and stop is None:
        times = np.array([1.0])
    elif start is None or stop is None:
        raise ValueError("start and stop are given together")
    else:
        times = np.linspace(start, stop, 50 if num is None else num, endpoint=True if endpoint is None else endpoint)
    if not len(times):
        raise ValueError("num is 0; give 1 or more")
    text = ",".join(repr(float(t * time)) for time in times)
    array = apply(g, f"exp:t={text}:matrix={matrix}", B, tol=tol, threads=threads, max_memory=max_memory, progress=progress,
                  self_loops=True).array
    if start is None:
        return array
    return np.moveaxis(array.reshape(g.n, len(times), -1), 1, 0).reshape(len(times), *B.shape)


def solve(A: Any, b: Any, x0: Any = None, *, shift: float = 0.0, matrix: str = "laplacian", rtol: float = 1e-8,
          threads: int | None = None, max_memory: str | int | None = None, progress: Progress = None) -> tuple[Any, int]:
    """Solve (L + shift·I)·x = b for a Laplacian L of the graph.

    Parameters
    ----------
    A : object
        The adjacency matrix, or a graph in any form that :func:`as_graph` takes.
    b : array of shape (n,) or (n, k)
        The right-hand sides.
    x0 : None
        For the signature of :func:`scipy.sparse.linalg.cg`; a starting value is not used.
    shift : float
        With 0, the result is L⁺·b, with the pseudo-inverse L⁺.
    matrix : {"laplacian", "normalized-laplacian"}
        The Laplacian.
    rtol : float
        The largest error of x, relative to its norm.

    Returns
    -------
    x : numpy.ndarray
        The solution.
    info : int
        0; a failure is an exception.

    Examples
    --------
    >>> import heatwalk as hw
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> x, info = hw.solve(path, [1, 0, -1])
    >>> abs(x - [1, 0, -1]).max() < 1e-8, info
    (True, 0)
    """
    g = as_graph(A)
    if not shift >= 0:
        raise ValueError(f"shift is {shift}; it must be 0 or more, so that the matrix has no negative eigenvalue")
    block = apply(g, f"solve:shift={float(shift)!r}:matrix={matrix}", _block(b, g.n, "b"), tol=rtol, threads=threads,
                  max_memory=max_memory, progress=progress, self_loops=True)
    return block.array, 0


def _eigenpairs(g: Graph, k: int, matrix: str, which: str, sigma: float | None, tol: float, settings: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return eigenvalues in increasing order and eigenvectors, which is largest, smallest or interior."""

    def work(folder: str) -> tuple[Any, Any]:
        call = Call(folder, g, dict(settings))
        path = call.path("vectors.npy", "out")
        args = ["--matrix", matrix, "--which", which, "--k", str(k), "--tolerance", repr(float(tol)), "-o", path]
        if sigma is not None:
            args += ["--near", repr(float(sigma))]
        if g.matrix is not None:
            args += ["--self-loops", "keep"]
        values = np.asarray(call.run("eigen", *args)["values"])
        order = np.argsort(values, kind="stable")
        return values[order], np.asarray(read_array(path))[:, order]

    return call_in_folder(g.bytes() + 8 * k * g.n, work)


def eigsh(A: Any, k: int = 6, M: None = None, sigma: float | None = None, which: str = "LM", *, matrix: str = "adjacency",
          tol: float = 1e-8, return_eigenvectors: bool = True, threads: int | None = None, max_memory: str | int | None = None,
          random_state: int | None = None, progress: Progress = None) -> Any:
    """Compute eigenpairs of a matrix of the graph, as :func:`scipy.sparse.linalg.eigsh` does.

    Parameters
    ----------
    A : object
        The adjacency matrix, with entries ≥ 0, or a graph in any form that :func:`as_graph` takes.
    k : int
        The number of eigenpairs, at most that of the nodes.
    M : None
        For the signature of SciPy; generalized problems are not supported.
    sigma : float, optional
        The eigenvalues nearest to sigma.
    which : {"LM", "LA", "SA"}
        The largest in magnitude, the largest, or the smallest eigenvalues.
    matrix : str
        adjacency, normalized-adjacency, transition, laplacian, normalized-laplacian or modularity.
    tol : float
        The largest residual, relative to the norm of the matrix.

    Returns
    -------
    w : numpy.ndarray
        The eigenvalues in increasing order.
    v : numpy.ndarray
        The eigenvectors as columns, if return_eigenvectors is true.

    Examples
    --------
    >>> import heatwalk as hw
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> w, v = hw.eigsh(path, k=2, which="SA", matrix="laplacian")
    >>> [round(float(x), 6) for x in abs(w)]
    [0.0, 1.0]
    """
    if M is not None:
        raise ValueError("M is not supported: generalized problems are those of matrix=\"transition\" or \"normalized-laplacian\"")
    g = as_graph(A)
    settings = dict(threads=threads, max_memory=max_memory, random_state=random_state, progress=progress)
    if not 0 < k <= g.n:
        raise ValueError(f"k is {k}; it must be between 1 and {g.n}")
    if sigma is not None:
        w, v = _eigenpairs(g, k, matrix, "interior", sigma, tol, settings)
    elif which in ("LA", "SA"):
        w, v = _eigenpairs(g, k, matrix, "largest" if which == "LA" else "smallest", None, tol, settings)
    elif which == "LM":
        w, v = _eigenpairs(g, k, matrix, "largest", None, tol, settings)
        if matrix not in ("laplacian", "normalized-laplacian"):  # which have no negative eigenvalues
            more = min(k, g.n - k)
            if more:
                low, vectors = _eigenpairs(g, more, matrix, "smallest", None, tol, settings)
                w, v = np.concatenate([low, w]), np.hstack([vectors, v])
            order = np.sort(np.argsort(-np.abs(w), kind="stable")[:k])
            w, v = w[order], v[:, order]
    else:
        raise ValueError(f"which={which!r} is not supported; give LM, LA or SA, or sigma for eigenvalues near a number")
    return (w, v) if return_eigenvectors else w


