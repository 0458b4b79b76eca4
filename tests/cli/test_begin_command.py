"""`boto-wait begin SERVICE OPERATION`."""

import json
import re
import shlex
import signal
import threading

import boto3
import pytest
from batch.calls import parsed
from botocore.exceptions import NoCredentialsError, ReadTimeoutError

from boto_waiters_plus.operations import Store
from boto_waiters_plus.operations.in_memory import MEMORY

pytestmark = pytest.mark.usefixtures("aws")
RUN = "begin ec2 run-instances --image-id ami-1 --min-count 1 --max-count 1"
NEW = "begin s3 create-bucket --bucket new-bucket --max-wait 9"
DELETE = "begin s3 delete-bucket --bucket b --max-wait 9"
JOB = "begin glue start-job-run --job-name nightly"
RUNS = {
    "StartJobRun": [{"JobRunId": "jr 1"}],
    "GetJobRun": [{"JobRun": {"JobRunState": state}} for state in ("RUNNING", "STOPPING")],
}
STOP = "boto-wait begin glue batch-stop-job-run --job-name nightly --job-run-ids 'jr 1'"


@pytest.fixture
def database(tmp_path):
    """The path of a store."""
    pytest.importorskip("sqlalchemy")
    return tmp_path / "my calls.db"


@pytest.fixture
def runs(aws, called, virtual_time):
    """Jobs that run, and stop, and never end."""
    calls = {name: iter(answers) for name, answers in RUNS.items()}
    called(lambda name, _: next(calls[name], RUNS[name][-1]))


@pytest.fixture
def failing(called):
    """`failing(error, operation=None)`: calls fail with it; of others than this one, a job runs."""

    def fail(error, operation=None):
        def answer(name, _):
            if operation in (name, None):
                raise error
            return RUNS[name][0]

        called(answer)

    return fail


def test_call_and_wait_are_one_line(command):
    code, out, err = command(f"{RUN} --then instance-running --max-wait 10m")
    assert code == 0
    assert err.startswith("boto-wait begin: to repeat this call: --client-token ")
    assert out.startswith("ec2 RunInstances: 1 attempt, then InstanceRunning after ")
    assert len(boto3.client("ec2").describe_instances()["Reservations"]) == 1
    assert command(f"{RUN} --max-wait 9 --quiet") == (0, "", "")


def test_json_has_the_token_and_the_response(facts_of):
    code, facts, _ = facts_of(f"{RUN} --client-token t-1 --include-response --max-wait 9")
    assert (code, facts["outcome"], facts["operation"]) == (0, "succeeded", "RunInstances")
    assert (facts["token"], facts["attempts"]) == ("t-1", 1)
    assert facts["response"]["Instances"][0]["ImageId"] == "ami-1"
    assert facts["last_response"]["Reservations"][0]["Instances"][0]["State"]["Name"] == "running"


def test_required_token_need_not_be_given(facts_of):
    code, facts, _ = facts_of("begin route53 create-hosted-zone --name example.com --max-wait 9")
    assert (code, len(facts["token"])) == (0, 36)


def test_nested_token_is_named_by_its_members(command):
    batch = json.dumps({"Paths": {"Quantity": 1, "Items": ["/"]}})
    words = "begin cloudfront create-invalidation --distribution-id d --max-wait 9"
    code, _, err = command(f"{words} --invalidation-batch", batch)
    assert (code, "InvalidationBatch.CallerReference " in err) == (254, True)


def test_refused_call_is_an_error(facts_of):
    code, facts, err = facts_of(DELETE)
    assert (code, "DeleteBucket failed" in err) == (254, True)
    assert (facts["error"]["type"], facts["outcome_unknown"]) == ("CallRefusedError", False)


def test_what_a_call_has_done_is_waited_for(facts_of, command):
    code, facts, _ = facts_of(NEW)
    found = (code, facts["waiter"], facts["basis"], facts["token"])
    assert found == (0, "BucketExists", "identity", None)
    words = "begin s3 put-bucket-acl --bucket new-bucket --acl private --max-wait 9"
    assert command(f"{words} --no-wait")[0] == 0


# --- help ---------------------------------------------------------------------------------------


def test_operations_with_effects_are_listed_for_a_service(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    of_help, alone = command("begin rds --help"), command("begin rds")
    assert (of_help[0], alone[:2]) == (0, (2, ""))
    assert "OPERATION is missing" in alone[2]
    for text in (of_help[1], alone[2]):
        rows = dict(re.findall(r"^  ([-a-z0-9]+): ([-, a-z0-9]+)$", text, re.MULTILINE))
        assert rows["modify-db-instance"] == "db-instance-modified"
        blue_green = "switchover-blue-green-deployment"
        assert rows[blue_green] == "blue-green-deployment-switchover-completed"
        assert not {"describe-db-instances", "add-tags-to-resource"} & rows.keys()


# --- calls and waits that are interrupted ---------------------------------------------------------


LOST = ReadTimeoutError(endpoint_url="https://service")


@pytest.mark.parametrize(("words", "error", "code", "outcome"), [
    (RUN, LOST, 124, "timed out"), (JOB, LOST, 255, "failed"),
    (RUN, KeyboardInterrupt(), 130, "interrupted"), (JOB, KeyboardInterrupt(), 130, "interrupted"),
    (RUN, NoCredentialsError(), 253, "error"), (JOB, NoCredentialsError(), 253, "error"),
])  # fmt: skip
def test_a_call_that_fails_may_have_been_executed(facts_of, failing, words, error, code, outcome):
    failing(error)
    found, facts, err = facts_of(f"{words} --no-wait --max-wait 9")
    assert (found, facts["outcome"], facts["outcome_unknown"]) == (code, outcome, code != 253)
    assert (facts["error"]["type"] == "NoCredentialsError", facts["polled"]) == (code == 253, {})
    assert "resume" not in facts
    if words == RUN:
        assert f"--client-token {facts['token']}" in err
    elif code == 130:
        assert "find out if it was executed" in err


@pytest.mark.parametrize("is_stored", [False, True])
def test_interrupted_wait_says_how_to_stop_what_was_begun(facts_of, called, database, is_stored):
    def interrupted(name, _):
        if name == "GetJobRun":
            signal.raise_signal(signal.SIGINT)
        return RUNS["StartJobRun"][0]

    called(interrupted)
    store = ["--store", database] if is_stored else []
    code, facts, err = facts_of(f"{JOB} --max-wait 9 --include-response", *store)
    assert (code, facts["outcome"], facts["outcome_unknown"]) == (130, "interrupted", False)
    assert facts["response"] == RUNS["StartJobRun"][0]
    assert f"to stop it: {STOP} --no-wait --max-wait 1m\n" in err


def test_stored_call_is_resumed(command, facts_of, failing, called, database):
    failing(KeyboardInterrupt())
    code, facts, err = facts_of(f"{RUN} --max-wait 9 --store", database)
    called(None)
    assert (code, facts["resume"] in err) == (130, True)
    resume = shlex.split(facts["resume"])[1:]
    code, resumed, _ = facts_of("", *resume)
    assert (code, resumed["token"]) == (0, facts["token"])
    unknown = ["begin", "--resume", "calls/1", "--store", database]
    for words, message in ((resume, "has ended"), (unknown, "calls/1")):
        code, out, err = command("", *words)
        assert (code, out, err.count("\n"), message in err) == (2, "", 1, True)


@pytest.mark.usefixtures("runs")
def test_stored_wait_is_resumed_without_a_token(facts_of, database):
    words = ["--max-wait", "5m"]
    _, facts, _ = facts_of(JOB, *words, "--store", database)
    code, resumed, err = facts_of("", *shlex.split(facts["resume"])[1:], *words)
    assert (code, resumed["outcome"], resumed["observed"]) == (124, "timed out", "STOPPING")
    assert resumed["label"] == "glue JobName=nightly, RunId=jr 1"
    assert "glue JobName=nightly, RunId=jr 1: STOPPING, attempt 1 after" in err


@pytest.mark.parametrize("words", [JOB, f"begin --resume calls/{32 * '0'}"])
def test_a_store_without_access_is_one_line(command, words, database):
    code, _, err = command(f"{words} --max-wait 9 --store", database / "none.db")
    assert (code, err.count("\n"), "unable to open database file" in err) == (255, 1, True)


def test_the_command_that_goes_on_has_no_password(facts_of, failing, database, monkeypatch):
    monkeypatch.setattr("boto_waiters_plus.cli.change.store_of", lambda _: Store(database))
    failing(KeyboardInterrupt())
    code, facts, err = facts_of(f"{JOB} --max-wait 9 --store postgresql://me:p@h/calls")
    assert (code, facts["resume"] in err) == (130, True)
    assert " --store postgresql://me@h/calls" in err


# --- what is stopped ------------------------------------------------------------------------------


def test_stop_on_timeout_stops_what_was_begun(command, called):
    made = []
    called(lambda *call: made.append(call) or RUNS.get(call[0], [{}])[0])
    assert command(f"{JOB} --max-wait 1s --stop-on-timeout")[0] == 124
    assert made[-1] == ("BatchStopJobRun", {"JobName": "nightly", "JobRunIds": ["jr 1"]})


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("asked", [True, False])
def test_stop_on_cancel_stops_what_was_begun(facts_of, called, number, code, asked):
    made = []

    def answer(name, _):
        made.append(name)
        if name == "GetJobRun":
            signal.raise_signal(number)
        return {"JobRunId": "jr"}

    called(answer)
    ended, facts, err = facts_of(f"{JOB} --max-wait 9{' --stop-on-cancel' * asked}")
    assert ended == code
    assert ("BatchStopJobRun" in made) is asked
    assert ("BatchStopJobRun was called" in err) is asked
    assert facts.get("stop", {}).get("state") == ("made" if asked else None)


def test_the_report_tells_why_nothing_was_stopped(facts_of, failing):
    failing(ReadTimeoutError(endpoint_url="https://glue"), "BatchStopJobRun")
    code, facts, err = facts_of(f"{JOB} --max-wait 1s --stop-on-timeout")
    assert (code, facts["stop"]["state"]) == (124, "refused")
    assert "could not be stopped" in err
    assert "could not be stopped" in facts["error"]["message"]
    assert f"to stop it: {STOP}" in err


@pytest.mark.usefixtures("runs")
def test_the_command_that_stops_it_has_the_connection(command):
    words = "--region eu-west-1 --endpoint-url http://127.0.0.1:1 --no-verify-ssl --ca-bundle ca"
    err = command(f"{JOB} --max-wait 5m {words}")[2]
    stop = next(line for line in err.splitlines() if "to stop it: " in line)
    endpoint = "--region=eu-west-1 --endpoint-url=http://127.0.0.1:1"
    assert stop.endswith(f" --max-wait 1m {endpoint} --ca-bundle=ca --no-verify-ssl")


def test_the_command_that_stops_it_has_no_secret(command, called, virtual_time):
    answers = {"CreateEvaluationJob": {"jobArn": "arn:aws:bedrock:us-east-1:1:evaluation-job/x1"}}
    called(lambda name, _: answers.get(name, {"status": "InProgress"}))
    dataset = {"taskType": "Summarization", "dataset": {"name": "d"}, "metricNames": ["m"]}
    job = {"evaluationConfig": {"automated": {"datasetMetricConfigs": [dataset]}}}
    job |= {"jobName": "j", "roleArn": "arn:aws:iam::123456789012:role/r"}
    job |= {"outputDataConfig": {"s3Uri": "s3://b"}}
    job |= {"inferenceConfig": {"models": [{"bedrockModel": {"modelIdentifier": "m"}}]}}
    words = "begin bedrock create-evaluation-job --max-wait 5m --output json --cli-input-json"
    code, out, err = command(words, json.dumps(job))
    assert (code, virtual_time.now > 200) == (124, True)
    assert "stop-evaluation-job --job-identifier '***' " in err
    assert "evaluation-job/x1" not in out + err


# --- what is reported -----------------------------------------------------------------------------


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("flow", ["", "--allow-repeat --once"])
def test_json_is_that_of_a_wait(facts_of, virtual_time, flow):
    code, facts, _ = facts_of(f"{JOB} --max-wait 5m {flow} --include-response")
    assert (code, facts["outcome"]) == (124, "timed out")
    assert (facts["operation"], facts["waiter"]) == ("StartJobRun", "JobRunSucceeded")
    assert (facts["label"], facts["observed"]) == ("glue JobName=nightly, RunId=jr 1", "STOPPING")
    assert facts["polled"] == {"JobName": "nightly", "RunId": "jr 1"}
    assert facts["attempts"] == len(facts["timeline"]) > 5
    assert facts["timeline"][0]["state"] == "RUNNING"
    assert 290 < facts["elapsed"] <= virtual_time.now <= 300
    assert (facts["parameters"], facts["call_attempts"]) == ({"JobName": "nightly"}, 1)
    answers = {"response": RUNS["StartJobRun"][0], "last_response": RUNS["GetJobRun"][-1]}
    assert {name: facts[name] for name in answers} == answers


@pytest.mark.usefixtures("runs")
def test_progress_and_error_say_what_is_polled(command):
    _, out, err = command(f"{JOB} --max-wait 5m")
    lines = [line for line in err.splitlines() if line.startswith("glue JobName=nightly, RunId=")]
    states = [line.partition(": ")[2].partition(",")[0] for line in lines]
    assert (out, states[:2]) == ("", ["RUNNING", "STOPPING"])
    _, out, err = command(f"{JOB} --max-wait 5m --quiet")
    polled = 'boto-wait begin: polled: GetJobRun {"JobName": "nightly", "RunId": "jr 1"}'
    assert (out, err.count("STOPPING, attempt"), polled in err) == ("", 0, True)
    assert f"boto-wait begin: to stop it: {STOP}" in err
    assert " for glue JobName=nightly, RunId=jr 1: " in err
    responses = json.loads(command(f"{JOB} --max-wait 5m --include-response")[1])
    assert responses["response"] == RUNS["StartJobRun"][0]
    assert responses["last_response"] == RUNS["GetJobRun"][-1]


@pytest.mark.parametrize("end", ["SUCCEEDED", "FAILED"])
def test_label_of_one_attempt_is_what_is_polled(facts_of, called, end):
    called(lambda *_: {"JobRunId": "jr", "JobRun": {"JobRunState": end}})
    # Events of attempts are late, and come after the end.
    is_over = threading.Event()
    MEMORY.pool().callbacks.put(is_over.wait)
    _, facts, _ = facts_of(f"{JOB} --max-wait 9")
    is_over.set()
    assert (facts["attempts"], facts["label"]) == (1, "glue JobName=nightly, RunId=jr")


@pytest.mark.usefixtures("runs")
def test_options_of_a_wait_are_passed_on(facts_of):
    code, facts, _ = facts_of(f"{JOB} --max-wait 5m --max-attempts 2")
    assert (code, facts["outcome"], facts["attempts"]) == (124, "attempts used up", 2)


def test_json_has_what_is_reported(facts_of, called):
    deployment = {"id": "d", "status": "PRIMARY", "rolloutState": "IN_PROGRESS"}
    service = {"serviceArn": "arn:aws:ecs:us-east-1:1:service/c/web", "status": "ACTIVE"}
    service |= {"runningCount": 1, "desiredCount": 3, "deployments": [deployment]}
    answers = {"UpdateService": {"service": service}, "DescribeServices": {"services": [service]}}
    called(lambda operation, _: answers[operation])
    words = "begin ecs update-service --cluster c --service web --force-new-deployment"
    code, facts, err = facts_of(f"{words} --max-wait 1")
    assert code == 124
    assert facts["reported"] == {"rollout": "IN_PROGRESS", "running": "1 of 3"}
    assert "last state seen: rollout IN_PROGRESS, 1 of 3 running (" in err


def test_nothing_to_change_is_a_success_if_allowed(command, facts_of, monkeypatch):
    refusal = {"Error": {"Code": "ValidationError", "Message": "No updates are to be performed."}}
    monkeypatch.setattr("botocore.endpoint.Endpoint.make_request", lambda *_: parsed(refusal))
    words = "begin cloudformation update-stack --stack-name s --use-previous-template --max-wait 9"
    code, facts, _ = facts_of(f"{words} --no-change-ok")
    assert (code, facts["basis"], facts["exception"]["code"]) == (0, "unchanged", "ValidationError")
    assert command(f"{words} --no-change-ok")[1].endswith("1 attempt, nothing to change\n")
    assert command(words)[0] == 254


def test_what_is_gone_is_a_success_if_allowed(command, facts_of):
    words = f"{DELETE} --missing-ok"
    code, facts, _ = facts_of(words)
    assert (code, facts["basis"], facts["exception"]["code"]) == (0, "goal", "NoSuchBucket")
    assert command(words)[1] == "s3 DeleteBucket: 1 attempt, it is gone already\n"
    assert command(f"{words} --no-wait")[0] == 0
