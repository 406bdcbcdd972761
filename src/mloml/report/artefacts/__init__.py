"""One module per artefact: a pure function from a study's result to a document, and its recipe.

A new one needs a module here with a ``RECIPE`` and ``conf/experiment/<name>.yaml``; then
``mloml.report.reproduce`` makes it by its name.
"""
