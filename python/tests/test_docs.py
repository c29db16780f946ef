"""The examples of docstrings and of docs/python.md run."""

import doctest
import importlib
import os
import pkgutil
import re
import tarfile
import tempfile
import unittest
import zipfile

import heatwalk

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
TOUR = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "python.md")


class Examples(unittest.TestCase):
    def test_docstrings(self):
        modules = [heatwalk] + [importlib.import_module("heatwalk." + m.name) for m in pkgutil.iter_modules(heatwalk.__path__)]
        for module in modules:
            try:
                result = doctest.testmod(module, optionflags=FLAGS)
            except ImportError as error:
                self.skipTest(str(error))
            self.assertEqual(result.failed, 0, module.__name__)

    def test_tour(self):
        """All examples of the page run in order, in a folder of their own."""
        with open(TOUR, encoding="utf-8") as file:
            blocks = re.findall(r"```python\n(.*?)```", file.read(), re.S)
        for name in ("pandas", "networkx"):
            try:
                importlib.import_module(name)
            except ImportError:
                blocks = [b for b in blocks if name not in b]
        test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "python.md", TOUR, 0)
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                result = doctest.DocTestRunner(optionflags=FLAGS).run(test)
            finally:
                os.chdir(before)
        self.assertGreater(result.attempted, 15)
        self.assertEqual(result.failed, 0)

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
