"""`install()` before anything of AWS is imported, each in a process of its own."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from case_tables import tabled

ROOT = Path(__file__).absolute().parents[2]

UNTOUCHED = ["boto3", "botocore", "aiobotocore", "urllib3", "asyncio", "ssl", "wrapt", "socket"]
"""What a program imports itself, when it wants it and from where it wants."""


DEFINITION = {
    "smithy": "2.0",
    "shapes": {
        "com.amazonaws.kinesis#DescribeStream": {
            "type": "apply",
            "traits": {
                "smithy.waiters#waitable": {
                    "Mine": {"acceptors": [{"state": "success", "matcher": {"success": True}}]}
                }
            },
        }
    },
}


def run(script, *arguments, path=()):
    """What a script prints in a new process that imports nothing by itself."""
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join([*map(str, path), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
        cwd=ROOT,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.split()


@tabled("statement")
def test_install_imports_nothing_of_the_program(statement, tmp_path):
    path = tmp_path / "kinesis.json"
    path.write_text(json.dumps(DEFINITION))
    script = f"""
        import json, sys
        before = set(sys.modules)
        import boto_waiters_plus as bwp
        {statement}
        new = {{name.partition(".")[0] for name in set(sys.modules) - before}}
        print(*sorted(new & {set(UNTOUCHED)}))
    """
    assert run(script, json.dumps(DEFINITION), path) == []


@tabled("arguments", "error")
def test_wrong_argument_is_refused_at_once_without_botocore(arguments, error):
    script = f"""
        import sys
        import boto_waiters_plus as bwp
        before = list(sys.meta_path)
        try:
            bwp.install({arguments})
        except {error}:
            print(sys.meta_path == before, "botocore" in sys.modules)
    """
    assert run(script) == ["True", "False"]


@tabled("statement")
def test_what_is_imported_later_is_extended(statement):
    script = f"""
        import boto_waiters_plus as bwp
        bwp.install(definitions={DEFINITION!r})
        {statement}
        import boto3, botocore.waiter
        client = boto3.Session("key", "secret", region_name="us-east-1").client("kinesis")
        for end in (lambda: None, bwp.uninstall):
            end()
            kind = type(vars(botocore.waiter.Waiter)["wait"])
            print(hasattr(client, "wait_until_mine"), kind.__name__, len(botocore._INITIALIZERS))
    """
    assert run(script) == ["True", "FunctionWrapper", "1", "False", "function", "0"]


def test_install_while_another_thread_imports_is_not_lost():
    script = """
        import threading
        import boto_waiters_plus as bwp

        threads = [threading.Thread(target=__import__, args=("boto3",)) for _ in range(10)]
        threads[5:5] = [threading.Thread(target=bwp.install) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        import boto3, botocore
        client = boto3.Session("key", "secret", region_name="us-east-1").client("kinesis")
        print(hasattr(client, "wait_until_stream_exists"), len(botocore._INITIALIZERS))
        print(type(vars(botocore.waiter.Waiter)["wait"]).__name__)
    """
    assert run(script) == ["True", "1", "FunctionWrapper"]


def test_uninstall_before_the_import_leaves_nothing():
    script = """
        import sys
        before = list(sys.meta_path)
        import boto_waiters_plus as bwp
        bwp.install()
        bwp.uninstall()
        print(sys.meta_path == before)
        import boto3, botocore.waiter
        print(botocore._INITIALIZERS, type(vars(botocore.waiter.Waiter)["wait"]).__name__)
        print("wrapt" in sys.modules)
    """
    assert run(script) == ["True", "[]", "function", "False"]


def test_reloaded_modules_are_extended_again():
    script = """
        import importlib
        import boto_waiters_plus as bwp
        bwp.install()
        import boto3, botocore.session, botocore.waiter
        importlib.reload(botocore.waiter)
        importlib.reload(botocore.session)
        print(type(vars(botocore.waiter.Waiter)["wait"]).__name__)
        print(type(vars(botocore.session.Session)["create_client"]).__name__)
        print(len(botocore._INITIALIZERS))
    """
    assert run(script) == ["FunctionWrapper", "FunctionWrapper", "1"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_child_of_a_fork_is_extended_when_it_imports():
    script = """
        import os
        import boto_waiters_plus as bwp
        bwp.install()
        child = os.fork()
        if not child:
            import boto3
            client = boto3.Session("key", "secret", region_name="us-east-1").client("kinesis")
            os._exit(7 if hasattr(client, "wait_until_stream_exists") else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert run(script) == ["7"]


def fake(folder, package):
    """Packages with the names of botocore and aiobotocore, which are as small as can be."""
    sessions = {"botocore": "Session", "aiobotocore": "AioSession"}
    waiters = {"botocore": "Waiter", "aiobotocore": "AIOWaiter"}
    root = folder.joinpath(*package.split("."))
    root.mkdir(parents=True)
    for each in (root, *list(root.parents)[: package.count(".")]):
        (each / "__init__.py").write_text("register_initializer = unregister_initializer = print\n")
    kind = package.rpartition(".")[2]
    method = "    def {}(self, **keywords):\n        return 'stock'\n"
    for module, classes, name in (
        ("session", sessions, "create_client"),
        ("waiter", waiters, "wait"),
    ):
        text = f"class {classes[kind]}:\n{method.format(name)}"
        (root / f"{module}.py").write_text(text)


@tabled("package", "session", "waiter", "extended")
def test_copy_under_a_prefix_is_left_alone(tmp_path, package, session, waiter, extended):
    fake(tmp_path, package)
    script = f"""
        import boto_waiters_plus as bwp
        bwp.install()
        from {package}.session import {session}
        from {package}.waiter import {waiter}
        print(type(vars({session})["create_client"]).__name__)
        print(type(vars({waiter})["wait"]).__name__)
    """
    # What is printed before: the initializer is registered.
    assert run(script, path=[tmp_path])[-2:] == [extended, extended]


def test_module_of_another_shape_is_imported_all_the_same(tmp_path):
    fake(tmp_path, "botocore")
    (tmp_path / "botocore" / "waiter.py").write_text("Waiter = 3\n")
    script = """
        import logging, sys
        logging.basicConfig(stream=sys.stdout)
        import boto_waiters_plus as bwp
        bwp.install()
        import botocore.waiter
        print(botocore.waiter.Waiter)
    """
    words = run(script, path=[tmp_path])
    assert words[-1] == "3"
    assert words[0] == "ERROR:boto_waiters_plus:cannot"
