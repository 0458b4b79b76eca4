"""Every way to name a waiter answers one that does not exist with the same suggestions."""

import boto3
import pytest

import boto_waiters_plus as bwp
from boto_waiters_plus.cli import main

WAYS = {
    "wait_until": lambda client, name: bwp.wait_until(client, name, max_wait=9),
    "Wait": lambda client, name: bwp.Wait(client, name, {}, max_wait=9),
    "attribute": lambda client, name: getattr(client, f"wait_until_{name}"),
    "get_waiter": lambda client, name: client.get_waiter(name),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_error_has_suggestions_and_the_service(way):
    bwp.install()
    client = boto3.client("glue", region_name="us-east-1")
    with pytest.raises((ValueError, AttributeError)) as raised:
        WAYS[way](client, "crawler_complete")
    prefix = "wait_until_" if way == "attribute" else ""
    meant = ("succeeded", "ready")
    one, other = (f"'{prefix}crawler_{state}'" for state in meant)
    assert f"; did you mean {one}, {other} or " in str(raised.value)
    assert "glue" in str(raised.value).lower()


@pytest.mark.parametrize(
    "command", ["show glue", "wait glue --max-wait 9", "schedule glue --max-wait 9"]
)
def test_the_command_has_suggestions_and_the_service(command, capsys):
    assert main(command.replace("glue", "glue crawler-complete").split()) == 2
    told = (
        "no glue waiter 'crawler-complete'; did you mean 'crawler-succeeded', 'crawler-ready' or "
    )
    assert told in capsys.readouterr().err
