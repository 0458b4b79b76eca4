"""What holds in a fresh interpreter only: `install()` before botocore, and a first wait's time."""

import json

import pytest
from hooks.new_process import run


def test_before_botocore_install_imports_nothing_and_checks_its_arguments(tmp_path, definition):
    path = tmp_path / "kinesis.json"
    document = json.dumps(definition("Mine"))
    path.write_text(document)
    script = """
        import json, sys
        import boto_waiters_plus as bwp
        finders = list(sys.meta_path)
        refused = []
        for wrong in (
            {"definitions": "/nowhere.json"}, {"defaults": {"min_delay": -1}},
            {"on_event": "print"}, {"get_waiter": 1},
        ):
            try:
                bwp.install(**wrong)
            except (bwp.WaiterDefinitionError, ValueError, TypeError):
                refused.append(sys.meta_path == finders)
        bwp.install()
        bwp.install(get_waiter=False, on_event=print, defaults=bwp.WaitOptions(max_delay=7))
        for definitions in (json.loads(sys.argv[1]), sys.argv[2]):
            bwp.install(definitions=definitions, defaults={"max_delay": 7})
        bwp.install(definitions=bwp.load_definitions(sys.argv[2]))
        bwp.uninstall()
        left = sys.meta_path == finders
        untouched = {"boto3", "botocore", "aiobotocore", "urllib3", "asyncio", "ssl", "wrapt"}
        imported = sorted((untouched | {"socket"}) & {*sys.modules})
        import botocore.waiter
        kind = type(vars(botocore.waiter.Waiter)["wait"]).__name__
        print(json.dumps([refused, imported, left, kind]))
    """
    assert run(script, document, path) == [[True] * 4, [], True, "function"]


def test_threads_may_install_import_and_read_signatures(definition):
    script = """
        import functools, importlib, inspect, json, sys, threading
        from concurrent.futures import ThreadPoolExecutor
        import boto_waiters_plus as bwp

        install = functools.partial(bwp.install, definitions=json.loads(sys.argv[1]))
        threads = [threading.Thread(target=__import__, args=("boto3",)) for _ in range(10)]
        threads[5:5] = [threading.Thread(target=install) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        from botocore.waiter import Waiter
        import boto3, botocore.session, botocore.waiter
        client = boto3.Session("key", "secret", region_name="us-east-1").client("kinesis")
        method, together = client.wait_until_stream_exists, threading.Barrier(8)
        def read(_):
            together.wait()
            return "max_wait" in inspect.signature(method).parameters
        with ThreadPoolExecutor(8) as pool:
            found = [[*pool.map(read, range(8))]]
        reload = lambda: [importlib.reload(each) for each in (botocore.waiter, botocore.session)]
        for change in (list, reload, bwp.uninstall):
            change()
            kind = type(vars(botocore.waiter.Waiter)["wait"]).__name__
            found.append([hasattr(client, "wait_until_mine"), kind, len(botocore._INITIALIZERS)])
        print(json.dumps(found))
    """
    extended = [True, "FunctionWrapper", 1]
    expected = [[True] * 8, extended, extended, [False, "function", 0]]
    assert run(script, json.dumps(definition("Mine"))) == expected


@pytest.mark.parametrize("form", ["blocking", "awaited", "batch"])
def test_max_wait_and_elapsed_count_what_a_first_wait_imports(form):
    # An import takes 100 seconds of a clock that goes on as the real one does.
    script = """
        import asyncio, importlib.abc, json, sys, time
        import boto3
        import boto_waiters_plus as bwp

        bwp.install()
        client = boto3.Session("key", "secret", region_name="us-east-1").client("kinesis")
        client.meta.events.register("before-call", lambda **_: sys.exit("a request"))
        wait = bwp.Wait(client, "StreamExists", {"StreamName": "s"})
        # What comes before the call is no part of it: the lookups of attributes.
        bwp.wait_until_async, bwp.wait_all, bwp.WaiterTimeoutError, client.wait_until_stream_exists
        real, passed = time.monotonic, 0
        time.monotonic = lambda: real() + passed

        class Slow(importlib.abc.MetaPathFinder):
            def find_spec(self, name, path, target=None):
                global passed
                passed += 100 if name.startswith("boto_waiters_plus.") else 0

        sys.meta_path.insert(0, Slow())
        try:
            if sys.argv[1] == "blocking":
                client.wait_until_stream_exists(StreamName="s", max_wait=50)
            elif sys.argv[1] == "batch":
                raise bwp.wait_all([wait], max_wait=50, on_failure="collect")[0]
            else:
                arguments = {"StreamName": "s", "max_wait": 50}
                asyncio.run(bwp.wait_until_async(client, "StreamExists", **arguments))
        except bwp.WaiterTimeoutError as error:
            print(json.dumps([error.attempts, error.elapsed >= 100]))
    """
    assert run(script, form) == [0, True]


def test_each_step_imports_only_what_it_uses():
    script = """
        import inspect, json, sys
        import boto_waiters_plus as bwp

        imported = lambda *names: [x for x in names if f"boto_waiters_plus.{x}" in sys.modules]
        later = ("options", "engine.machine", "history")
        bwp.install()
        found = [imported("definitions", "engine", "outcome", "exceptions", "many", *later)]
        import boto3
        client = boto3.Session("key", "secret", region_name="us-east-1").client("kinesis")
        method = client.wait_until_stream_exists
        found += [imported(*later), "min_delay" in inspect.signature(method).parameters]
        try:
            method(StreamName="s", max_wait=0)
        except bwp.WaiterTimeoutError:
            print(json.dumps([*found, imported(*later)]))
    """
    assert run(script) == [[], [], True, ["options", "engine.machine"]]


@pytest.mark.parametrize("first", ["boto_waiters_plus", "boto3"])
def test_install_inside_a_tool_that_drops_what_was_imported_meanwhile(first):
    """As pyfakefs does."""
    script = """
        import importlib, json, sys
        importlib.import_module(sys.argv[1])
        import boto_waiters_plus as bwp
        class Finder:
            def find_spec(self, name, path, target=None):
                return None
        before = {*sys.modules}
        sys.meta_path.insert(0, Finder())
        bwp.install()
        sys.meta_path.pop(0)
        for name in {*sys.modules} - before:
            del sys.modules[name]
        import boto3, botocore.stub, botocore.waiter
        client = boto3.Session("key", "secret", region_name="us-east-1").client("kinesis")
        with botocore.stub.Stubber(client) as stubber:
            stubber.add_client_error("describe_stream", "ResourceNotFoundException")
            outcome = client.get_waiter("stream_not_exists").wait(StreamName="s")
        has_method = hasattr(client, "wait_until_stream_exists")
        bwp.install()
        bwp.uninstall()
        left = type(vars(botocore.waiter.Waiter)["wait"]).__name__
        print(json.dumps([has_method, type(outcome).__name__, left]))
    """
    assert run(script, first) == [True, "ExceptionOutcome", "function"]
