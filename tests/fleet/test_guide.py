"""The example of docs/fleet.md runs unchanged, on a cluster of its own."""

import re
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer

GUIDE = Path(__file__).parents[2] / "docs" / "fleet.md"

pytestmark = [
    pytest.mark.skipif(not GUIDE.exists(), reason="the documentation is not part of a wheel"),
    # Of Dask, where another cluster of the machine has the port of the dashboard.
    pytest.mark.filterwarnings("ignore:Port 8787 is already in use"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def test_the_example_of_the_guide_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = GUIDE.read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    dynamodb = boto3.client("dynamodb", endpoint_url=f"http://{host}:{port}")
    for number in range(20):
        dynamodb.create_table(
            TableName=f"table-{number}",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
    names = {"dynamodb": dynamodb}
    try:
        exec(block, names)
    finally:
        server.stop()
        names["store"].close()
    assert capsys.readouterr().out.count(" succeeded\n") == 20
