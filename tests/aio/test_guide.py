"""The examples of docs/asyncio.md run as they stand there."""

import ast
import asyncio
import inspect
import re
from pathlib import Path

import boto3
import pytest
from aio.clients import required

GUIDE = Path(__file__).parents[2] / "docs" / "asyncio.md"


@pytest.fixture
def service(monkeypatch):
    required("aiobotocore.session")
    server = pytest.importorskip("moto.server").ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    s3 = boto3.client("s3", endpoint_url=f"http://{host}:{port}")
    for name in ("my-bucket", "my-other-bucket"):
        s3.create_bucket(Bucket=name)
    s3.close()
    yield
    server.stop()


@pytest.mark.skipif(not GUIDE.exists(), reason="the documentation is not part of a wheel")
def test_the_examples_of_the_guide_run(service, capsys):
    text = GUIDE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 6
    namespace = {}

    async def main():
        for block in blocks:
            code = compile(block, str(GUIDE), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            result = eval(code, namespace)
            if inspect.iscoroutine(result):
                await result

    asyncio.run(main())
    namespace["s3"].close()
    printed = capsys.readouterr().out
    assert "asyncio's error" in printed
    assert "the wait's own error" in printed
    assert [outcome.attempts for outcome in namespace["outcomes"]] == [1, 1]
