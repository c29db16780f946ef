"""The examples of docstrings, docs/python.md and docs/tour.md run."""

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

import heatwalk
from heatwalk import _binary

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
DOCS = os.path.join(os.path.dirname(__file__), "..", "..", "docs")


class Examples(unittest.TestCase):
    def test_docstrings(self):
        modules = [heatwalk] + [importlib.import_module("heatwalk." + m.name) for m in pkgutil.iter_modules(heatwalk.__path__)]
        for module in modules:
            try:
                result = doctest.testmod(module, optionflags=FLAGS)
            except ImportError as error:
                self.skipTest(str(error))
            self.assertEqual(result.failed, 0, module.__name__)

    def run_page(self, name, modules):
        """Run all examples of a page in order, in the current folder."""
        path = os.path.join(DOCS, name)
        with open(path, encoding="utf-8") as file:
            blocks = re.findall(r"```python\n(.*?)```", file.read(), re.S)
        for module in modules:
            try:
                importlib.import_module(module)
            except ImportError:
                blocks = [b for b in blocks if module not in b]
        test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, name, path, 0)
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                if name == "tour.md":
                    self.write_files()
                result = doctest.DocTestRunner(optionflags=FLAGS).run(test)
            finally:
                os.chdir(before)
        self.assertEqual(result.failed, 0)
        return result.attempted

    def write_files(self):
        """Make the folder of the tour, with the kernel of its commands."""
        with open(os.path.join(DOCS, "tour.md"), encoding="utf-8") as file:
            kernel = re.search(r"heatwalk (kernel .* -o )K.npy", file.read())[1]
        for command in ("demo --save example", "ingest example/relations.csv --kind relation --time date -o accounts",
                        kernel + "example/K.npy"):
            subprocess.run([_binary.binary(), *command.split(), "--quiet"], check=True, stdout=subprocess.DEVNULL)
        os.chdir("example")

    def test_python_page(self):
        self.assertGreater(self.run_page("python.md", ("pandas", "networkx")), 15)

    def test_tour(self):
        try:
            import pandas, sklearn  # noqa: F401, E401
        except ImportError as error:
            self.skipTest(str(error))
        self.assertGreater(self.run_page("tour.md", ()), 10)

    def test_numpydoc(self):
        """Docstrings are those of numpydoc, which Jupyter, Sphinx and scikit-learn read; types are annotations."""
        try:
            from numpydoc.validate import validate
        except ImportError as error:
            self.skipTest(str(error))
        # Quotes on lines of their own, types, and sections that a sentence replaces.
        optional = {"GL01", "GL02", "PR04", "ES01", "EX01", "SA01", "RT01", "YD01"}
        for name in heatwalk.__all__:
            member = getattr(heatwalk, name)
            names = [name] if callable(member) else []
            if isinstance(member, type):
                names += [f"{name}.{m}" for m, v in vars(member).items() if callable(v) and m[0] != "_"]
            for path in names:
                found = validate("heatwalk." + path)
                has_parameters = "Parameters\n" in found["docstring"]
                wrong = [text for code, text in found["errors"]
                         if code not in optional and (code != "PR01" or has_parameters)]
                self.assertEqual(wrong, [], path)

    def test_without_numpy(self):
        """The import says what to install."""
        code = "import sys; sys.modules['numpy'] = None; import heatwalk"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertIn("ImportError: heatwalk needs NumPy and SciPy", done.stderr)
        self.assertIn("pip install numpy scipy", done.stderr)

    def test_metadata(self):
        """pyproject.toml has the metadata that wheelbuild.py writes, and packages have the licence."""
        import wheelbuild

        with open(os.path.join(wheelbuild.HERE, "pyproject.toml"), encoding="utf-8") as file:
            project = file.read()
        for text in (wheelbuild.SUMMARY, *wheelbuild.REQUIRES, *wheelbuild.EXTRAS["all"],
                     *re.findall(r"heatwalk\.\S+", wheelbuild.ENTRY_POINTS)):
            self.assertIn(text, project)
        with tempfile.TemporaryDirectory() as folder:
            name = wheelbuild.build_sdist(folder)
            with tarfile.open(os.path.join(folder, name)) as archive:
                for member in ("PKG-INFO", "LICENSE"):
                    self.assertIn(f"{name[:-7]}/{member}", archive.getnames())
            with zipfile.ZipFile(os.path.join(folder, wheelbuild.write_wheel(folder))) as wheel:
                self.assertIn(f"{name[:-7]}.dist-info/licenses/LICENSE", wheel.namelist())


if __name__ == "__main__":
    unittest.main()
