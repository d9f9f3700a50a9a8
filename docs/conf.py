"""The documentation as a site: sphinx-build -W --keep-going -n -b html docs build/docs."""

import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "mpsgraph_native"
release = metadata.version("mpsgraph-native")
copyright = "the authors of mpsgraph_native"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "site_of_mpsgraph_native"]
exclude_patterns = ["_extensions"]

# Pages are read on code hosts too: plain Markdown, with relative links and the anchors that hosts make of headings.
myst_heading_anchors = 3

# Docstrings say shapes and dtypes in words; annotations would repeat them as names that lead nowhere.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
smartquotes = False  # docstrings and pages quote what is typed
napoleon_numpy_docstring = False
add_module_names = False
python_maximum_signature_line_length = 100
toc_object_entries_show_parents = "hide"

nitpicky = True
nitpick_ignore_regex = [
    # Classes of other projects: the network is closed to intersphinx.
    ("py:.*", r"(numpy|concurrent\.futures|concurrent)(\..*)?"),
    # Base classes that users do not name.
    ("py:class", r"mpsgraph_native\.(enumerations\._Named|descriptors\._Descriptor|_core\..*)"),
]

html_theme = "furo"
html_title = f"mpsgraph_native {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
