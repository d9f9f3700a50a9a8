"""What the site needs beside Sphinx: docstrings as reST, tables made from the package, links that lead out of docs/."""

from site_of_mpsgraph_native import directives, docstrings, pages


def setup(app):
    for module in (docstrings, directives, pages):
        module.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
