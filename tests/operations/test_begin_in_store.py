"""`begin` with a store: call and wait outlive the process that made the call."""

import datetime as dt
import json
import threading
from unittest import mock

import boto3
import pytest
from botocore import exceptions as errors
from case_tables import CASES
from stored_waits import (
    IN_MEMORY,
    ON_FILE,
    SHARED,
    Key,
    KilledError,
    is_in_files,
    swapped,
    without_parameter,
    work,
)
from test_begin import MAX_WAIT, StaleService, http, named
from test_begin import begin as begin_of
from wrappers import WRAPPERS

import boto_waiters_plus as bwp
from boto_waiters_plus import operations

SENSITIVE = json.loads((CASES / "sensitive-requests.json").read_text("utf-8"))
JOB, BUILD = "glue: a job run", "codebuild: a build"
POINTS = ("before the call", "after the answer")


@pytest.fixture
def store(open_store, running_clock):
    return open_store(clock=running_clock)


@pytest.fixture
def service(virtual_time):
    """`service(name)`: the service of a row of the table."""
    return lambda name, **members: StaleService({**named(name), **members}, virtual_time)


@pytest.fixture
def job(service):
    return service(JOB)


@pytest.fixture
def build(service):
    """Its call has a token."""
    return service(BUILD)


def begin(store, service, **options):
    return begin_of(service, in_store=store, **options)


def kill(store, service, point, **options):
    """Begin, and end as a process does that is killed, until its lease has ended."""
    event = {"before the call": "before-call", "after the answer": "after-call"}[point]

    def die(**_):
        raise KilledError

    service.client.meta.events.register_first(event, die)
    with pytest.raises(KilledError), mock.patch.object(store.database, "release"):
        begin(store, service, **options)
    service.client.meta.events.unregister(event, die)
    store.clock.now += 31
    return store.list().operations[0]["path"]


@pytest.mark.parametrize("name", [JOB, BUILD, "ecs: a stale service", "rds: three minutes"])
def test_a_worker_goes_on_once_the_call_is_answered(store, service, name):
    made = service(name)
    before = []
    look = lambda **_: before.extend(store.list(state="open").operations)  # noqa: E731
    made.client.meta.events.register_first("before-call", look)
    operation = begin(store, made)
    made.client.meta.events.unregister("before-call", look)
    assert [each["path"] for each in before] == [operation.path]
    assert before[0]["metadata"]["worker"] is not None
    assert operation.metadata["worker"] is None
    assert work(store, made.client) == 1
    assert operation.result(10).basis == made.row["ends"]
    elsewhere = store.get(operation.path)
    assert elsewhere.result(0).basis == made.row["ends"]
    assert elsewhere.effect == operation.effect
    answer = {k: v for k, v in elsewhere.call.response.items() if k != "ResponseMetadata"}
    assert answer == made.row["answer"]
    assert elsewhere.call.token == operation.call.token
    assert made.operations.count(made.operations[0]) == 1


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_the_wrapper_is_called_by_its_process_alone(store, service, wrap):
    made, calls = service(JOB), []
    made.client.start_job_run = wrap(made.client.start_job_run, calls)
    operation = begin(store, made)
    assert len(calls) == 1
    assert made.operations == ["StartJobRun"]
    assert work(store, made.client) == 1
    assert operation.result(10).basis == "identity"
    assert len(calls) == 1


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("name", [JOB, BUILD])
def test_only_a_token_lets_a_dead_call_be_repeated(store, service, name, point):
    made = service(name)
    path = kill(store, made, point)
    assert work(store, made.client) == 1
    operation = store.get(path)
    calls = [params for params in made.requests if "projectName" in params]
    if name == JOB:
        assert operation.exception(0).code == "outcome_unknown"
        assert made.operations == ["StartJobRun"]
        assert operation.call is None
        with pytest.raises(ValueError, match="StartJobRun"):
            store.resume(path, max_wait=9)
        return
    assert operation.result(0).basis == "identity"
    assert len(calls) == 2
    assert calls[0]["idempotencyToken"] == calls[1]["idempotencyToken"] == operation.call.token


@IN_MEMORY
def test_a_worker_that_is_first_leaves_a_call_alone(store, service, working):
    made, claims, was_given_back = service(JOB), [], threading.Event()
    acquire, claim = store.database.acquire, store.database.claim

    def claim_and_note(*arguments):
        rows, now = claim(*arguments)
        claims.extend(rows)
        if len(claims) > 1:
            was_given_back.set()
        return rows, now

    def acquire_late(*arguments):
        store.database.acquire, store.database.claim = acquire, claim_and_note
        working(store, made.client)
        assert was_given_back.wait(60)
        return acquire(*arguments)

    store.database.acquire = acquire_late
    assert begin(store, made).result(60).basis == "identity"
    assert made.operations.count("StartJobRun") == 1


@IN_MEMORY
@pytest.mark.parametrize("lacks", ["a parameter", "the region", "credentials"])
@pytest.mark.parametrize("is_late", [False, True])
def test_a_worker_that_lacks_something_repeats_no_call(store, service, lacks, is_late):
    made, client = service(BUILD), service(BUILD).client
    path = kill(store, made, "after the answer", buildspecOverride="b")

    def fail(**_):
        raise errors.NoCredentialsError

    if lacks == "a parameter":
        client = without_parameter(boto3.client("codebuild"), "StartBuild", "buildspecOverride")
    elif lacks == "the region":
        client = boto3.client("codebuild", region_name="eu-west-1")
    else:
        client.meta.events.register_first("before-call", fail)
    assert work(store, client) == 0
    error = store.get_json(path)["metadata"]["last_error"]
    assert error["code"] in operations.CODES
    assert ("for the region" in error["detail"]) is (lacks == "the region")
    if is_late:
        store.clock.now += 2 * MAX_WAIT
        work(store, client)
        assert store.get(path).exception(0).code == "outcome_unknown"
        return
    assert work(store, made.client) == 1
    assert store.get(path).result(0).basis == "identity"
    assert made.operations.count("StartBuild") == 2


@IN_MEMORY
def test_a_worker_that_cannot_poll_keeps_the_answer(store, service):
    made, other = service(BUILD), service(BUILD)
    path = kill(store, made, "before the call")
    other.client.meta.events.unregister("provide-client-params", other._sent)
    without_parameter(other.client, "BatchGetBuilds", "ids")
    assert work(store, other.client) == 0
    assert store.get(path).call.response["build"] == {"id": "p:1"}
    assert store.get_json(path)["metadata"]["last_error"]["code"] == "invalid_parameters"
    polled = service(BUILD)
    polled._called_at, polled.operations = 0, ["StartBuild"]
    store.clock.now += 61
    assert work(store, polled.client) == 1
    assert store.get(path).result(0).basis == "identity"
    assert polled.operations.count("StartBuild") == 1


@IN_MEMORY
def test_an_answer_that_cannot_be_kept_is_asked_for_again(open_store, running_clock, service):
    key, made = Key(), service(BUILD)
    store = open_store(**key.pair, clock=running_clock)
    path = kill(store, made, "before the call")
    event, errors = "after-call.codebuild.StartBuild", iter([[OSError()], []])
    made.client.meta.events.register_last(event, lambda **_: setattr(key, "errors", next(errors)))
    assert work(store, made.client) == 0
    key.errors = []
    store.clock.now += 61
    assert work(store, made.client) == 1
    assert store.get(path).result(0).basis == "identity"
    calls = [sent for sent in made.requests if "projectName" in sent]
    assert len({sent["idempotencyToken"] for sent in calls}) == 1


@IN_MEMORY
@pytest.mark.parametrize("point", POINTS)
def test_a_repeated_call_keeps_its_policy(store, service, point):
    made, asked = service(BUILD), {"delay_history": True, "delay_kind": "k", "max_delay": 60}
    path = kill(store, made, point, **asked, success_count=2)
    before = store.row(path)
    assert work(store, made.client) == 1
    policies = [json.loads(row["policy"]) for row in (before, store.row(path))]
    assert policies[0].pop("max_wait") > policies[1].pop("max_wait")
    assert policies[0] == policies[1]
    assert policies[0].items() >= {"delay_history": True, "delay_kind": "k"}.items()


@pytest.mark.parametrize("missing_ok", [False, True])
def test_a_repeated_deletion_may_find_it_gone(store, service, missing_ok):
    """The attempt of the dead process has deleted the stack."""
    made = service("cloudformation: a deleted stack")
    path = kill(store, made, "after the answer", missing_ok=missing_ok)
    error = {"Code": "ValidationError", "Message": "Stack with id s does not exist"}
    made.client.meta.events.register_first("before-call", lambda **_: http({"Error": error}))
    work(store, made.client)
    operation = store.get(path)
    if missing_ok:
        assert operation.result(0).basis == "goal"
    else:
        assert operation.exception(0).code == "outcome_unknown"


def refuse(**_):
    return http({"Error": {"Code": "AccessDeniedException", "Message": "no"}})


def quote_a_throttle(**_):
    message = "Your role: Rate exceeded (ErrorCode: Throttling)"
    return http({"Error": {"Code": "InvalidInputException", "Message": message}})


def lose(**_):
    raise errors.ReadTimeoutError(endpoint_url="https://glue")


def break_down(**_):
    raise RuntimeError


@IN_MEMORY
@pytest.mark.parametrize("answer", [refuse, break_down])
def test_a_repeated_call_that_fails_stays_unknown(store, build, answer):
    path = kill(store, build, "after the answer")
    build.client.meta.events.register_first("before-call", answer)
    assert work(store, build.client) == 1
    assert store.get(path).exception(0).code == "outcome_unknown"
    build.client.meta.events.unregister("before-call", answer)
    operation = store.resume(path)
    work(store, build.client)
    assert operation.result(10).basis == "identity"


@pytest.mark.parametrize(("answer", "kind", "state"), [
    (refuse, errors.ClientError, "failed"),
    (lose, errors.ReadTimeoutError, "outcome_unknown"),
    (quote_a_throttle, errors.ClientError, "outcome_unknown"),
])  # fmt: skip
def test_a_call_without_success_ends_its_operation(store, job, answer, kind, state):
    job.client.meta.events.register_first("before-call", answer)
    with pytest.raises(kind):
        begin(store, job)
    [body] = store.list(state=state).operations
    assert store.get(body["path"]).call is None
    assert work(store, job.client) == 0


@pytest.mark.parametrize("name", [JOB, BUILD])
def test_a_call_whose_answer_does_not_tell_is_kept_and_polls_nothing(store, service, name):
    made = service(name, answer={})
    with pytest.raises(bwp.WaiterFailedError):
        begin(store, made)
    [body] = store.list(state="failed").operations
    assert store.get(body["path"]).call.attempts == 1
    operation = store.resume(body["path"], max_wait=60)
    work(store, made.client)
    assert "does not tell" in str(operation.exception(10))
    assert len(made.operations) == 1


def test_a_call_that_took_all_of_max_wait_is_waited_for_when_resumed(store, service):
    made = service(JOB, takes=MAX_WAIT + 1)
    with pytest.raises(bwp.WaiterTimeoutError):
        begin(store, made)
    [body] = store.list().operations
    operation = store.resume(body["path"], max_wait=MAX_WAIT)
    work(store, made.client)
    assert operation.result(10).basis == "identity"
    assert {"JobName": "j", "RunId": "jr"}.items() <= made.requests[-1].items()


def test_what_only_a_function_tells_is_not_resumed(store, service):
    with pytest.raises(KeyError):
        begin(store, service(JOB), then_wait=("JobRunSucceeded", lambda response: response["no"]))
    [body] = store.list().operations
    with pytest.raises(ValueError, match="knew what to poll"):
        store.resume(body["path"], max_wait=60)


@IN_MEMORY
def test_a_call_whose_row_cannot_be_held_is_never_made(store, running_clock, build, monkeypatch):
    with monkeypatch.context() as patched:
        error = operations.StoreError("the disk is full")
        patched.setattr(store.database, "acquire", mock.Mock(side_effect=error))
        with pytest.raises(operations.StoreError, match="the disk is full"):
            begin(store, build)
    [body] = store.list().operations
    assert body["done"]
    running_clock.now += 31
    assert work(store, build.client) == 0
    assert build.operations == []


@ON_FILE
def test_no_sensitive_parameter_is_stored(store, store_url, service, virtual_time):
    made = service("rds: three minutes", polls=named("rds: a password is not")["polls"][:1])
    # The class is read back at once; that the password is not must not be forgotten.
    secret = {"MasterUserPassword": "hunter-2", "DBInstanceClass": "db.m6g.large"}
    operation = begin(store, made, **secret)
    assert made.requests[0]["MasterUserPassword"] == "hunter-2"
    # It may still be held by the lease of its call.
    while not operation.done():
        work(store, made.client)
    assert operation.result(10).basis == "held"
    backup = {"BackupVaultName": "v", "ResourceArn": "a", "IamRoleArn": "r"}
    tagged = {**backup, "RecoveryPointTags": {"k": "hunter-2"}}
    row = {"service": "backup", "method": "start_backup_job", "parameters": tagged}
    begun = StaleService({**row, "answer": {"BackupJobId": "b"}, "polls": []}, virtual_time)
    path = kill(store, begun, "after the answer")
    assert work(store, begun.client) == 1
    assert store.get(path).exception(0).code == "outcome_unknown"
    assert not is_in_files(b"hunter-2", store_url)


PLAIN = {"name": "DB_PASSWORD", "value": "hunter-2", "type": "PLAINTEXT"}
"""An environment variable of a build: the caller's, and one that the project has."""
OF_PROJECT = {**PLAIN, "value": "hunter-3"}


@ON_FILE
def test_what_people_hide_in_parameters_is_repeated(store, store_url, service):
    environment = {"environment": {"environmentVariables": [OF_PROJECT]}}
    polls = [[0, {"builds": [{"id": "p:1", "buildStatus": "SUCCEEDED", **environment}]}]]
    made = service(BUILD, answer={"build": {"id": "p:1", **environment}}, polls=polls)
    given = {"environmentVariablesOverride": [PLAIN], "request_id": "r"}
    path = kill(store, made, "before the call", **given, include_response=True)
    assert work(store, made.client) == 1
    calls = [sent for sent in made.requests if "projectName" in sent]
    assert [sent["environmentVariablesOverride"] for sent in calls] == [[PLAIN], [PLAIN]]
    again = begin(store, made, **given, include_response=True)
    assert (again.path, again.result(10).basis) == (path, "identity")
    given["environmentVariablesOverride"] = [{**PLAIN, "value": "other"}]
    with pytest.raises(operations.OperationError) as caught:
        begin(store, made, **given, include_response=True)
    assert caught.value.code == "request_mismatch"
    [build] = again.result(10).response["builds"]
    kept = {name: each for name, each in PLAIN.items() if name != "value"}
    assert build["environment"] == {"environmentVariables": [kept]}
    assert again.call.response["build"] == {"id": "p:1", "environment": build["environment"]}
    assert not is_in_files(b"hunter-3", store_url)
    assert "hunter-" not in str(again.to_json())


def test_a_request_id_makes_one_call(store, job):
    operation = begin(store, job, request_id="r", exclusive_key="deploy")
    assert begin(store, job, request_id="r", exclusive_key="deploy") is operation
    for other, code in [({"request_id": "r"}, "request_mismatch"), ({}, "conflict")]:
        with pytest.raises(operations.OperationError) as caught:
            begin(store, job, exclusive_key="deploy", JobName="another", **other)
        assert (caught.value.code, caught.value.path) == (code, operation.path)
    assert job.operations == ["StartJobRun"]


def mismatches(store, service, **options):
    with pytest.raises(operations.OperationError) as caught:
        begin(store, service, request_id="r", **options)
    return caught.value.code == "request_mismatch"


def test_a_request_is_what_was_asked_for(store, job, virtual_time):
    same = [{}, {"max_wait": float(MAX_WAIT)}, {"max_wait": dt.timedelta(seconds=MAX_WAIT)}]
    with bwp.deadline(1000):
        paths = {begin(store, job, request_id="r").path}
        # Less is left of the deadline.
        virtual_time.advance(3)
        for options in (*same, {"propagation_wait": 120, "stop_on_cancel": False}):
            paths.add(begin(store, job, request_id="r", **options).path)
        assert mismatches(store, job, max_wait=MAX_WAIT + 1)
        assert mismatches(store, job, max_wait=None)
    paths.add(begin(store, job, request_id="r").path)
    assert len(paths) == 1
    assert job.operations == ["StartJobRun"]


def test_a_deadline_alone_is_asked_for(store, service):
    made, paths = service(JOB), set()
    for seconds in (1000, 2000):
        with bwp.deadline(seconds):
            paths.add(begin(store, made, max_wait=None, request_id="r").path)
    assert len(paths) == 1


@IN_MEMORY
@pytest.mark.parametrize("change", [
    *({"stop_on_timeout": True}, {"stop_on_cancel": True}, {"propagation_wait": 5}),
    *({"min_delay": 7}, {"JobName": "k"}, {"include_response": True}),
])  # fmt: skip
def test_another_request_is_a_mismatch(store, job, change):
    begin(store, job, request_id="r")
    assert mismatches(store, job, **change)


@IN_MEMORY
@pytest.mark.parametrize("row", SENSITIVE, ids=lambda row: row["sensitive"])
def test_a_request_with_a_secret_is_refused(store, virtual_time, row):
    made = StaleService(row, virtual_time)
    with pytest.raises(ValueError, match=rf"^{row['sensitive']} is.*request_id") as caught:
        begin(store, made, request_id="r")
    assert "hunter-2" not in str(caught.value)
    assert (made.operations, store.list().operations) == ([], [])


@IN_MEMORY
def test_a_generated_token_is_not_asked_for(store, virtual_time):
    # Its label shows the token.
    row = {"service": "route53", "method": "create_hosted_zone", "parameters": {"Name": "n."}}
    answer = {"ChangeInfo": {"Id": "/change/c", "Status": "PENDING"}}
    made = StaleService({**row, "answer": answer, "polls": []}, virtual_time)
    paths = {begin(store, made, request_id="r").path for _ in range(2)}
    assert (len(paths), made.operations) == (1, ["CreateHostedZone"])


@IN_MEMORY
def test_a_sensitive_token_is_no_secret_of_a_request(store, virtual_time):
    row = {"service": "codebuild", "method": "start_sandbox", "parameters": {}}
    made = StaleService({**row, "answer": {"sandbox": {"id": "s"}}, "polls": []}, virtual_time)
    wait = ("builds_succeeded", lambda response: {"ids": [response["sandbox"]["id"]]})
    asked = {"then_wait": wait, "request_id": "r"}
    assert len({begin(store, made, **asked).path for _ in range(2)}) == 1
    assert len(made.requests[0]["idempotencyToken"]) >= 1
    with pytest.raises(ValueError, match=r"^idempotencyToken is sensitive"):
        begin(store, made, **asked, idempotencyToken="x" * 36)


@IN_MEMORY
def test_without_the_key_a_dead_call_stays_open(open_store, running_clock, service):
    sealed = open_store(encrypt=swapped, decrypt=swapped, clock=running_clock)
    blind = open_store(sealed.database, clock=running_clock)
    path = kill(sealed, service(BUILD), "before the call")
    running_clock.now += 2 * MAX_WAIT
    assert blind.get_json(path)["done"] is False
    assert sealed.get(path).exception(60).code == "outcome_unknown"


@IN_MEMORY
def test_a_worker_that_cannot_encrypt_repeats_no_call(open_store, running_clock, build):
    sealed = open_store(encrypt=swapped, decrypt=swapped, clock=running_clock)
    reader = open_store(sealed.database, decrypt=swapped, clock=running_clock)
    path = kill(sealed, build, "before the call")
    sent = len(build.requests)
    assert work(reader, build.client) == 0
    assert len(build.requests) == sent
    assert work(sealed, build.client) == 1
    assert sealed.get(path).result(0).basis == "identity"
    assert sealed.row(path)["parameters"].startswith("encrypted:")


@IN_MEMORY
def test_options_of_a_store_reach_the_worker(store, service):
    made, profiles = service(JOB), []
    operation = begin(store, made, include_response=True, profile_name="deployer")
    make = lambda description: profiles.append(description.profile) or made.client  # noqa: E731
    store.work(until_idle=True, make_client=make)
    assert operation.result(10).response["JobRun"]["JobRunState"] == "SUCCEEDED"
    assert profiles == ["deployer"]


@SHARED
def test_stop_takes_the_credentials_of_its_process(store, open_store, service):
    made, other = service(JOB), service(JOB)
    other.client.get_job_run(JobName="j", RunId="r")
    operation = begin(store, made)
    operation.stop()
    assert made.requests[-1] == {"JobName": "j", "JobRunIds": ["jr"]}
    with mock.patch.object(boto3.session.Session, "client", return_value=other.client):
        open_store().get(operation.path).stop()
    assert other.requests[-1] == made.requests[-1]
    acm = begin(store, service("acm"))
    with pytest.raises(NotImplementedError, match="nothing is known that stops"):
        acm.stop()


@IN_MEMORY
def test_a_store_that_fails_loses_no_answer(store, job, monkeypatch):

    def fail(**_):
        def write(*_):
            raise operations.StoreError("the disk is full")

        monkeypatch.setattr(store.database, "write", write)

    job.client.meta.events.register("after-call", fail)
    with pytest.raises(operations.StoreError, match="the disk is full") as caught:
        begin(store, job)
    assert caught.value.call.response["JobRunId"] == "jr"


@IN_MEMORY
@pytest.mark.parametrize(("options", "kind", "words"), [
    ({"in_store": object()}, TypeError, "in_store"),
    ({"in_store": None, "request_id": "r"}, TypeError, "request_id"),
    ({"on_attempt": print}, TypeError, "on_attempt"),
    ({"JobName": 5}, errors.ParamValidationError, "JobName"),
])  # fmt: skip
def test_a_bad_argument_stores_nothing(store, job, options, kind, words):
    with pytest.raises(kind, match=words):
        begin(options.pop("in_store", store), job, **options)
    assert job.operations == []
    assert store.list().operations == []


@IN_MEMORY
def test_a_sensitive_parameter_of_the_wait_is_refused(store):
    name = "bedrock-agentcore-control"
    if name not in boto3.Session().get_available_services():
        pytest.skip("this botocore does not know the service")
    client = boto3.client(name, region_name="us-east-1")
    keywords = {"agentRuntimeId": "a-0123456789", "endpointName": "e"}
    with pytest.raises(ValueError, match="endpointName"):
        bwp.begin(client.delete_agent_runtime_endpoint, max_wait=9, in_store=store, **keywords)
    assert store.list().operations == []


@IN_MEMORY
def test_a_repeated_call_that_is_refused_hides_its_parameters(store, service):
    made = service(BUILD)
    bwp.enable(made.client, defaults={"show_parameters": False})
    path = kill(store, made, "before the call", projectName="orders")
    error = {"Code": "InvalidInputException", "Message": "no"}
    made.row |= {"refusals": [{"Error": error}], "answer": None}
    # As a worker has it: without the settings of the process that is gone.
    elsewhere = service(BUILD, refusals=made.row["refusals"], answer=None)
    assert work(store, elsewhere.client) == 1
    assert store.get(path).exception(0).code == "outcome_unknown"
    assert "orders" not in str(store.get_json(path))
