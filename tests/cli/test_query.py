"""`--query`, and the parameters that have the name of an option of `boto-wait`."""

import json
from pathlib import Path

import boto3
import pytest

CASES = json.loads((Path(__file__).parents[1] / "cases/command_lines.json").read_text("utf-8"))
TABLE = "dynamodb table-exists --max-wait 9 --table-name"
DELETE = "begin dynamodb delete-table --max-wait 9 --allow-repeat --table-name"


@pytest.fixture(autouse=True)
def _table(aws):
    table = {"TableName": "orders", "BillingMode": "PAY_PER_REQUEST"}
    table["AttributeDefinitions"] = [{"AttributeName": "id", "AttributeType": "S"}]
    table["KeySchema"] = [{"AttributeName": "id", "KeyType": "HASH"}]
    boto3.client("dynamodb").create_table(**table)


@pytest.mark.parametrize(("query", "expected"), CASES["queries"])
def test_query_prints_a_part_of_the_outcome(query, expected, command):
    assert command(f"{TABLE} orders --query", query) == (0, expected, "")


@pytest.mark.parametrize(("query", "expected"), [("observed", '"ACTIVE"'), ("nothing", "null")])
def test_query_prints_json(query, expected, command):
    assert command(f"{TABLE} orders --output json --query", query)[1] == f"{expected}\n"


def test_query_is_printed_of_a_failure_too(command):
    code, out, err = command(f"{TABLE} none --quiet --query", "[outcome, parameters]")
    assert (code, out, err.count("\n")) == (124, "timed out\nnone\n", 1)


def test_each_wait_prints_its_own_line(command):
    words = "dynamodb table-exists --max-wait 9 --each table-name orders none"
    _, out, _ = command(f"{words} --query parameters.TableName")
    assert sorted(out.splitlines()) == ["none", "orders"]


def test_query_of_a_call(command):
    query = "[operation, parameters.TableName, response.TableDescription.TableName]"
    expected = (0, "DeleteTable\torders\torders\n", "")
    assert command(f"{DELETE} orders --query", query) == expected


def test_a_query_of_any_depth_is_refused(command):
    assert command(f"{TABLE} orders --query", "(" * 5000)[:2] == (2, "")


def test_query_of_the_wrong_type_is_an_error(command):
    code, out, err = command(f"{TABLE} orders --query", "abs(outcome)")
    assert (code, out, err.count("\n")) == (255, "", 1)
    assert "--query" in err


def test_sensitive_parameters_are_not_printed(facts_of):
    words = "cognito-idp get-user --until u --state-path Username --max-wait 9"
    code, facts, err = facts_of(words, "--access-token", "s3cret")
    assert (code, facts["parameters"]) == (254, {"AccessToken": "***"})
    assert "s3cret" not in f"{facts}{err}"


def test_what_people_hide_is_printed_of_parameters_only(facts_of, called):
    variable = {"name": "DB_PASSWORD", "value": "hunter-2"}
    build = {"id": "p:1", "environment": {"environmentVariables": [variable]}}
    polled = {"builds": [{"id": "p:1", "buildStatus": "SUCCEEDED"}]}
    called(lambda operation, _: {"build": build} if operation == "StartBuild" else polled)
    words = "begin codebuild start-build --project-name p --max-wait 9"
    words += " --include-response --environment-variables-override name=DB_PASSWORD,value=hunter-2"
    code, facts, _ = facts_of(words)
    assert (code, facts["parameters"]["environmentVariablesOverride"]) == (0, [variable])
    variable["value"] = "***"
    assert facts["response"] == {"build": build}


# --- parameters with the name of an option ------------------------------------------------------

SEARCH = "cloudsearchdomain search --until u --state-path status.rid --max-wait 9"


def test_option_wins_and_json_takes_the_parameter(command, called):
    sent = []
    called(lambda _, parameters: sent.append(parameters) or {"status": {"rid": "u"}})
    words = f"{SEARCH} --query outcome --cli-input-json"
    where = ["--endpoint-url", "http://localhost"]
    assert command(words, '{"query": "red"}', *where)[:2] == (0, "succeeded\n")
    assert sent == [{"query": "red"}]


def test_presigned_urls_are_not_printed(command, called):
    called(lambda *_: {"status": {"rid": "u"}, "hits": {"cursor": "https://b/?X-Amz-Signature=s"}})
    words = [SEARCH, "--query", "response.hits.cursor", "--cli-input-json", '{"query": "red"}']
    assert command(*words, "--endpoint-url", "http://localhost")[1] == "***\n"
