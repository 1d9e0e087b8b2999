"""The page of the documentation names what there is."""

from __future__ import annotations

import ast
import re
import unittest

import agent_session_gateway
from agent_session_gateway import GatewayClient, Run, Turn

from .support import ROOT

PAGE = (ROOT / "docs/python.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


class DocsTest(unittest.TestCase):
    def test_blocks_are_python_and_import_what_there_is(self) -> None:
        self.assertGreater(len(BLOCKS), 2)
        for block in BLOCKS:
            tree = compile(block, "docs/python.md", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and node.module == "agent_session_gateway":
                    for name in node.names:
                        self.assertTrue(hasattr(agent_session_gateway, name.name), name.name)

    def test_tables_name_what_can_be_called_with_the_arguments_that_there_are(self) -> None:
        rows = re.findall(r"^\| (`.*?)(?<!\\) \|", PAGE, re.MULTILINE)
        calls = re.findall(r"(?:run\.)?(\w+)\(([^)]*)\)", " ".join(rows))
        self.assertGreater(len(calls), 20)
        for name, arguments in calls:
            called = next((getattr(of, name) for of in (Turn, GatewayClient, Run) if hasattr(of, name)), None)
            self.assertIsNotNone(called, name)
            for keyword in re.findall(r"(\w+)=", arguments):
                is_named = keyword in getattr(called, "__code__").co_varnames
                self.assertTrue(is_named or getattr(called, "__code__").co_flags & 8, f"{name}({keyword}=)")
