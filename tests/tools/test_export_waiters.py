"""Exported waiters are read back as they are, by the package's parsers and by botocore."""

import json
from dataclasses import replace

import pytest
from botocore.waiter import WaiterModel
from export_waiters import main, reads_input, smithy_idl, waiters2

from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_services
from boto_waiters_plus.definitions.smithy import parse_model
from boto_waiters_plus.definitions.waiters2 import convert_model

SERVICES = [
    s for s in shipped_services() if any("curated" in d.tags for d in shipped_definitions(s))
]


def curated(service):
    return [
        replace(each, tags=()) for each in shipped_definitions(service) if "curated" in each.tags
    ]


def by_name(definitions):
    return {each.name: each for each in definitions}


def test_smithy_export_is_read_as_the_waiters():
    pytest.importorskip("lark")
    from boto_waiters_plus.definitions.idl import parse_idl  # noqa: PLC0415 - needs lark

    for service in SERVICES:
        model, _ = parse_idl(smithy_idl(curated(service)), source="exported")
        assert by_name(parse_model(model, source="exported")) == by_name(curated(service)), service


def test_botocore_reads_the_export_as_the_waiters():
    for service in SERVICES:
        definitions = [each for each in curated(service) if not reads_input(each)]
        document = json.loads(json.dumps(waiters2(definitions)))
        read = convert_model(document, source="exported", is_botocores=True)
        assert by_name(replace(each, service=None) for each in read) == by_name(
            replace(
                each,
                service=None,
                acceptors=tuple(replace(a, message=None) for a in each.acceptors),
            )
            for each in definitions
        ), service
        model = WaiterModel(document)
        for each in definitions:
            stock = model.get_waiter(each.name)
            assert (stock.operation, stock.delay) == (each.operation, each.max_delay)
            states = [acceptor.state for acceptor in stock.acceptors]
            assert states == [state.value for state in each.states], each


def test_command_prints_what_is_asked_for(capsys):
    assert main(["kms", "--format", "smithy"]) == 0
    assert "apply DescribeCustomKeyStores @waitable(\n    CustomKeyStoreConnected: {" in (
        capsys.readouterr().out
    )
    assert main(["kms", "KeyEnabled", "--format", "waiters-2"]) == 0
    assert list(json.loads(capsys.readouterr().out)["waiters"]) == ["KeyEnabled"]


def test_command_names_what_cannot_be_exported(capsys):
    assert main(["batch", "--format", "waiters-2"]) == 1
    output = capsys.readouterr()
    assert "JobsSucceeded compares the input, which waiters-2 cannot express\n" in output.err
    assert "JobsSucceeded" not in json.loads(output.out)["waiters"]


@pytest.mark.parametrize("arguments", [["kms", "KeyEnable"], ["nothing"]])
def test_unknown_waiter_is_a_usage_error(arguments, capsys):
    with pytest.raises(SystemExit) as error:
        main([*arguments, "--format", "smithy"])
    assert error.value.code == 2
    assert f"of {arguments[0]}" in capsys.readouterr().err
