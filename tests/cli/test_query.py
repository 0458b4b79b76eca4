"""`--query`, and the parameters that have the name of an option of `boto-wait`."""

import json

import boto3
import pytest
from botocore.loaders import create_loader
from botocore.model import ServiceModel
from moto import mock_aws

from boto_waiters_plus.cli import main
from boto_waiters_plus.cli.operation_parameters import add_operation_parameters
from boto_waiters_plus.cli.parser import Parser
from boto_waiters_plus.cli.query import text_lines
from boto_waiters_plus.cli.service_lookup import services_with_waiters, waiters_of
from boto_waiters_plus.cli.wait_options import add_wait_options

TABLE = ["dynamodb", "table-exists", "--max-wait", "9", "--table-name"]


@pytest.fixture(autouse=True)
def _aws():
    with mock_aws():
        boto3.client("dynamodb").create_table(
            TableName="orders",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        )
        yield


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["observed", "--output", "json"], '"ACTIVE"\n'),
        (["observed"], "ACTIVE\n"),
        (["[outcome, parameters.TableName]"], "succeeded\torders\n"),
        (["response.Table.KeySchema[].AttributeName"], "id\n"),
        (["response.Table.KeySchema"], "id\tHASH\n"),
        (["response.Table.[TableName, KeySchema]"], "orders\nid\tHASH\n"),
        (["nothing"], "None\n"),
        (["nothing", "--output", "json"], "null\n"),
        # As in the examples of aws-cli: a literal without quotes of its own.
        (["response.Table.KeySchema[?KeyType==`HASH`].AttributeName"], "id\n"),
        (["outcome", "--quiet"], "succeeded\n"),
    ],
)
def test_query_prints_a_part_of_the_outcome(words, expected, wait):
    code, out, err = wait(*TABLE, "orders", "--query", *words)
    assert (code, out, err) == (0, expected, "")


def test_query_is_printed_of_a_failure_too(wait):
    code, out, err = wait(*TABLE, "none", "--query", "[outcome, parameters]", "--quiet")
    assert (code, out) == (124, "timed out\nnone\n")
    assert err.startswith("boto-wait: Waiter TableExists timed out")


def test_each_wait_prints_its_own_line(wait):
    words = ["--each", "table-name", "orders", "none", "--query", "parameters.TableName"]
    _, out, _ = wait(*TABLE[:-1], *words, "--output", "json")
    assert sorted(out.splitlines()) == ['"none"', '"orders"']


def test_query_of_a_call(wait):
    words = ["--table-name", "orders", "--max-wait", "9", "--allow-repeat"]
    query = ["--query", "[operation, parameters.TableName, response.TableDescription.TableName]"]
    assert wait("begin", "dynamodb", "delete-table", *words, *query) == (
        0,
        "DeleteTable\torders\torders\n",
        "",
    )


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("a[", "expression 'a[' is not a JMESPath expression: "),
        ("", "expression '' is not a JMESPath expression: "),
        ("lenght(@)", "expression 'lenght(@)': unknown function 'lenght'; did you mean 'length'?"),
        ("length(@, @)", "Expected 1 argument for function length(), received 2"),
        ("(" * 5000, "expression '(((((((("),
    ],
)
@pytest.mark.parametrize("command", [TABLE, ["begin", "dynamodb", "delete-table", "--table-name"]])
def test_wrong_query_is_refused_before_any_request(command, query, problem, capsys, monkeypatch):
    monkeypatch.setattr("botocore.httpsession.URLLib3Session.send", lambda *_: 1 / 0)
    with pytest.raises(SystemExit) as caught:
        main([*command, "orders", "--query", query])
    assert caught.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    assert f": argument --query: {problem}" in line


def test_query_of_the_wrong_type_is_an_error(wait):
    code, out, err = wait(*TABLE, "orders", "--query", "abs(outcome)")
    assert (code, out) == (255, "")
    assert err.startswith("boto-wait: --query cannot be evaluated: ")
    assert err.count("\n") == 1


def test_background_waits_have_no_outcome_to_query(wait):
    code, _, err = wait(*TABLE, "orders", "--query", "outcome", "--background")
    assert (code, err.startswith("boto-wait: --query is about the outcome")) == (2, True)


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ("a", ["a"]),
        (None, ["None"]),
        (True, ["True"]),
        (1.5, ["1.5"]),
        (["a", 1, None], ["a\t1\tNone"]),
        ([["a", 1], ["b", 2]], ["a\t1", "b\t2"]),
        ([], []),
        ({"b": 1, "a": 2}, ["2\t1"]),
        ({"z": 1, "in": {"k": "v"}}, ["1", "IN\tv"]),
        ({"ids": ["i-1", "i-2"]}, ["IDS\ti-1", "IDS\ti-2"]),
        ({"tags": [{"k": "a", "v": 1}, {"k": "b", "v": 2}]}, ["TAGS\ta\t1", "TAGS\tb\t2"]),
    ],
)
def test_text_has_the_lines_of_aws_cli(value, lines):
    assert list(text_lines(value)) == lines


def test_sensitive_parameters_are_not_printed(wait):
    words = ["--operation", "get-user", "--path", "Username", "--success", "u", "--max-wait", "9"]
    words += ["--access-token", "s3cret", "--output", "json"]
    code, out, err = wait("cognito-idp", *words)
    assert (code, json.loads(out)["parameters"]) == (254, {"AccessToken": "***"})
    assert "s3cret" not in out + err


# --- options of ours ----------------------------------------------------------------------------

BY_JSON_ONLY = {"mwaa InvokeRestApi": ["Path"]}
"""The parameters of operations of waiters that have the name of an option of `boto-wait`."""


def test_all_names_that_are_options_of_ours_are_known():
    loader = create_loader()
    found, known = {}, set()
    for service in services_with_waiters() & {*loader.list_available_services("service-2")}:
        model = ServiceModel(loader.load_service_model(service, "service-2"), service)
        for operation in {definition.operation for definition in waiters_of(service)}:
            parser = Parser()
            add_wait_options(parser)
            add_operation_parameters(parser, model.operation_model(operation))
            names = parser.get_default("only_by_json")
            known.add(f"{service} {operation}")
            if names:
                found[f"{service} {operation}"] = names
    assert len(known) > 600
    assert found == {name: each for name, each in BY_JSON_ONLY.items() if name in known}


def invoke(words):
    given = ["mwaa", "--operation", "invoke-rest-api", "--path", "RestApiStatusCode"]
    given += ["--success-on-error", "x", "--name", "n", "--method", "GET", "--max-wait", "9"]
    return [*given, *words]


needs_mwaa = pytest.mark.skipif(
    "InvokeRestApi"
    not in ServiceModel(create_loader().load_service_model("mwaa", "service-2")).operation_names,
    reason="the installed botocore lacks the operation",
)


@needs_mwaa
@pytest.mark.filterwarnings("ignore:waiter InvokeRestApiState polls")
def test_option_of_ours_wins_and_json_takes_the_parameter(wait):
    words = invoke(["--cli-input-json", '{"Path": "/dags"}', "--output", "json"])
    code, out, err = wait(*words)
    # The path was taken as the state's, and the call was made: moto lacks the operation.
    assert code == 254, err
    assert json.loads(out)["parameters"] == {"Path": "/dags", "Name": "n", "Method": "GET"}


@needs_mwaa
def test_missing_parameter_says_how_it_is_given(wait):
    code, _, err = wait(*invoke([]))
    assert (code, err.splitlines()[-1]) == (
        2,
        "boto-wait: InvokeRestApi needs Path in --cli-input-json",
    )


@needs_mwaa
def test_help_says_which_parameters_go_by_json(capsys):
    with pytest.raises(SystemExit):
        main(invoke(["--help"]))
    text = " ".join(capsys.readouterr().out.split())
    assert "Path: by --cli-input-json, as boto-wait itself has --path" in text
