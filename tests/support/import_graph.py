"""Who imports whom, read from the sources: a graph of our modules, of the rooms they are in, and its circles.

Every import counts, wherever it stands in a file: a lazy one in a function and one for the type checker alone too.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

Graph: TypeAlias = dict[str, set[str]]
"""Each name with the names that it imports."""


def imported(tree: ast.AST) -> Iterator[str]:
    """Every module that is imported anywhere in a file, as `module.name` where a name is taken from it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)


def module_of(file: str) -> str:
    """`store/lance/rows.py` is `store.lance.rows`, `store/lance/__init__.py` is `store.lance`."""
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def modules(sources: Mapping[str, str]) -> Graph:
    """Each module of the sources, given by file, with those of them that it imports."""
    known = {module_of(file) for file in sources}
    graph: Graph = {module: set() for module in known}
    for file, source in sources.items():
        for name in imported(ast.parse(source)):
            target = name if name in known else name.rpartition(".")[0]  # a module, or a name out of one
            if target in known and target != module_of(file):
                graph[module_of(file)].add(target)
    return graph


def rooms(graph: Graph) -> Graph:
    """The graph of what is at the top of each floor: a folder there is one room with all that is in it."""
    return _merged(graph, lambda module: ".".join(module.split(".")[:2]))


def floors(graph: Graph) -> Graph:
    """The graph of the floors."""
    return _merged(graph, lambda module: module.split(".")[0])


def circles(graph: Graph) -> list[tuple[str, ...]]:
    """The groups of names that each lead to all others of their group, sorted; names on no circle are left out."""
    reached = {name: _reached(name, graph) for name in graph}
    groups = {
        tuple(sorted(other for other in reached[name] if name in reached[other]))
        for name in graph
        if name in reached[name]
    }
    return sorted(groups)


def _merged(graph: Graph, group: Callable[[str], str]) -> Graph:
    merged: Graph = {group(name): set() for name in graph}
    for name, targets in graph.items():
        merged[group(name)] |= {group(target) for target in targets} - {group(name)}
    return merged


def _reached(start: str, graph: Graph) -> set[str]:
    reached: set[str] = set()
    frontier: Iterable[str] = graph[start]
    while frontier := set(frontier) - reached:
        reached |= frontier
        frontier = {target for name in frontier for target in graph[name]}
    return reached
