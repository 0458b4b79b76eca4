"""Pages whose blocks are a file of their own: a script, and a test module."""

import os
import subprocess
import sys

import pytest
from docs.page_run import ROOT
from docs.page_setups import make_table
from moto import mock_aws
from moto.server import ThreadedMotoServer
from sybil import Sybil
from sybil.parsers.markdown import CodeBlockParser

pytestmark = pytest.mark.nightly(subject="docs")


def blocks(page, language):
    """Return the texts of the blocks of a page in one language."""
    path = ROOT / "docs" / page
    parsed = Sybil([CodeBlockParser(language, lambda _: None)], path=str(path.parent)).parse(path)
    return [example.parsed for example in parsed.examples()]


def run(*words, folder, **variables):
    paths = [str(ROOT), *filter(None, sys.path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **variables}
    options = {"capture_output": True, "text": True, "cwd": folder, "env": environment}
    return subprocess.run([sys.executable, *map(str, words)], check=False, **options)


@pytest.fixture
def tables():
    """Tables at a server that other processes reach; give its URL."""
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    with mock_aws():
        for number in range(20):
            make_table(f"table-{number}")
        yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()


def test_fleet_page_is_a_script(tables, tmp_path):
    [code] = blocks("fleet.md", "python")
    script = tmp_path / "script.py"
    script.write_text(code)
    done = run(script, folder=tmp_path, AWS_ENDPOINT_URL=tables)
    assert (done.returncode, done.stdout.count("succeeded")) == (0, 20), done.stderr


def test_testing_page_is_a_test_module(tmp_path):
    definition, *_ = blocks("definitions.md", "json")
    (tmp_path / "queue.json").write_text(definition)
    module = tmp_path / "test_page.py"
    module.write_text("\n\n".join(blocks("testing.md", "python")))
    done = run("-m", "pytest", "-p", "no:cacheprovider", module, folder=tmp_path)
    assert done.returncode == 0, done.stdout
