"""What only one module may do."""

import ast
from pathlib import Path

import boto_waiters_plus
from boto_waiters_plus.batch.tasks import Task

PACKAGE = Path(boto_waiters_plus.__file__).parent
# Attributes of other objects too; a task alone has the others.
SHARED_NAMES = {
    "call",
    "cancel",
    "connections",
    "delay",
    "group",
    "ids",
    "request",
    "result",
    "run",
    "wake",
}


def modules():
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).with_suffix("").as_posix()
        if not name.startswith("typed/"):
            yield name, ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def assigned_attributes(nodes):
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            yield ast.unparse(node.value), node.attr


def test_one_module_alone_changes_the_tasks():
    slots = {*Task.__slots__} - SHARED_NAMES
    writers = {
        name
        for name, nodes in modules()
        for owner, attribute in assigned_attributes(nodes)
        if owner != "self" and (attribute in slots or owner.endswith("task"))
    }
    assert writers == {"batch/task_steps"}


def test_one_module_chooses_the_call_of_a_client():
    makers = {
        name
        for name, nodes in modules()
        for node in nodes
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in {"BlockingCall", "AwaitedCall", "ThreadCall"}
    }
    assert makers == {"calls/client_call"}
