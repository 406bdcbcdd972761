"""Config files: plain YAML, and one line for what is not."""

from __future__ import annotations


def yaml_problem(error: Exception) -> str:
    """Say in one line what is wrong with a file that is no plain YAML, and where.

    >>> import yaml
    >>> try:
    ...     yaml.safe_load("name: !mine 3")
    ... except yaml.YAMLError as error:
    ...     print(yaml_problem(error))
    not plain YAML (line 1: could not determine a constructor for the tag '!mine')
    """
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or " ".join(str(error).split())
    return f"not plain YAML ({f'line {mark.line + 1}: ' if mark else ''}{problem})"
