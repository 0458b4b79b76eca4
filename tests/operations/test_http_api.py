"""The HTTP face: AEP-151's methods and statuses, errors in one form."""

import base64
import json

import pytest
from case_tables import CASES, experiments
from installed_models import installed_operation
from openapi_spec_validator import validate
from starlette.testclient import TestClient
from stored_waits import QUICK, start, swapped  # beside this file

import boto_waiters_plus as bwp
from boto_waiters_plus import operations

REFUSED = json.loads((CASES / "refused-requests.json").read_text("utf-8"))
TOKEN = {"Authorization": "Bearer word"}
WAIT = {
    "service": "kinesis",
    "waiter": "stream_exists",
    "max_wait": 60,
    "parameters": {"StreamName": "orders"},
    "options": QUICK,
}


THROTTLED = {"Error": {"Code": "ThrottlingException", "Message": "slow\x1b down"}}


@pytest.fixture
def store_url():
    return ":memory:"


@pytest.fixture
def app(store, stream, active):
    return operations.asgi(store, token="word", make_client=lambda *_: stream(active))


@pytest.fixture
def web(app):
    return TestClient(app, headers=TOKEN, raise_server_exceptions=False)


@pytest.fixture
def real_web(store):
    """With clients of boto3 sessions."""
    return TestClient(operations.asgi(store, token="word"), headers=TOKEN)


@pytest.fixture
def document(web):
    """The OpenAPI description of the interface."""
    return web.get("/openapi.json").json()


@pytest.fixture
def started(web):
    return post(web).json()["path"]


def post(web, **changes):
    # The client of the tests cannot send half a character itself.
    return web.post("/operations", content=json.dumps({**WAIT, **changes}))


def is_problem(response, status, code, words=""):
    body = response.json()
    assert response.status_code == status, body
    assert response.headers["content-type"] == "application/problem+json"
    assert (body["status"], body["code"]) == (status, code)
    assert body.keys() >= {"type", "title", "detail"}
    assert words in body["detail"]


# --- what is answered -----------------------------------------------------------------------------


def test_a_start_is_accepted_with_an_operation(web, store, document):
    response = post(web)
    assert response.status_code == 202
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert body["done"] is False
    assert body == web.get(f"/{body['path']}").json() == store.get_json(body["path"])
    metadata = document["components"]["schemas"]["Metadata"]["properties"]
    assert {*body["metadata"], "last_error"} == set(metadata)


def test_the_end_is_seen(web, store, stream, active, started, document):
    store.work(until_idle=True, make_client=lambda _: stream(active))
    response = web.get(f"/{started}")
    assert response.status_code == 200
    outcome = response.json()["response"]
    assert (outcome["kind"], outcome["attempts"], outcome["observed"]) == ("response", 1, "ACTIVE")
    schema = document["components"]["schemas"]["Outcome"]
    assert set(schema["required"]) <= outcome.keys() <= schema["properties"].keys()


def test_list_takes_filters_and_page_tokens(web):
    paths = [post(web, exclusive_key=key).json()["path"] for key in "abcd"]
    web.post(f"/{paths.pop()}:cancel")
    query = {"page_size": 2, "state": "open"}
    first = web.get("/operations", params=query).json()
    query["page_token"] = first["next_page_token"]
    rest = web.get("/operations", params=query).json()
    listed = [each["path"] for each in first["results"] + rest["results"]]
    assert (listed, rest["next_page_token"]) == (paths[::-1], None)
    (found,) = web.get("/operations", params={"exclusive_key": "b"}).json()["results"]
    assert (found["path"], found["metadata"]["exclusive_key"]) == (paths[1], "b")


def test_cancel(web, store, started):
    for _ in range(2):
        response = web.post(f"/{started}:cancel")
        assert response.status_code == 200
        assert response.json()["error"]["code"] == "cancelled"
    store.expire(0)
    is_problem(web.get(f"/{started}"), 404, "not_found", "expired")
    is_problem(web.post(f"/{started}:cancel"), 404, "not_found")


def test_the_same_request_and_a_conflict_name_the_operation(web):
    wait = {"request_id": "r-1", "exclusive_key": "deploy"}
    path = post(web, **wait).json()["path"]
    again = post(web, **wait, max_wait=60.0)
    assert (again.status_code, again.json()["path"]) == (202, path)
    for other, code in [
        ({"exclusive_key": "deploy"}, "conflict"),
        ({**wait, "max_wait": 61}, "request_mismatch"),
    ]:
        response = post(web, **other)
        is_problem(response, 409, code)
        assert response.json()["path"] == path


@pytest.mark.parametrize("max_wait", [1e12, 1e300, 10**400])
def test_a_far_deadline_can_be_shown(web, max_wait):
    response = post(web, max_wait=max_wait)
    assert response.json()["metadata"]["deadline"].startswith("9999-12-31")
    assert web.get("/operations").json()["results"] == [response.json()]


def test_a_region_is_that_of_the_client(real_web):
    for region in ("us-east-1", "eu-west-1"):
        assert post(real_web, region=region).json()["metadata"]["region"] == region


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "w"}])
def test_without_the_token_nothing_is_told(app, started, header):
    web = TestClient(app, headers=header)
    for path in ("/operations", f"/{started}", "/openapi.json", "/operations:events", "/other"):
        response = web.get(path)
        is_problem(response, 401, "unauthenticated")
        assert response.headers["www-authenticate"] == "Bearer"
    assert web.post("/operations", json=WAIT).status_code == 401
    assert "Open waits" in web.get("/").text


@pytest.mark.parametrize("row", REFUSED["starts"], ids=lambda row: str(row["change"])[:60])
def test_wrong_starts_are_refused(real_web, store, row):
    if "needs" in row:
        installed_operation(row["needs"])
    code = row.get("code", "invalid_argument")
    is_problem(post(real_web, **row["change"]), 400, code, row["says"])
    assert not store.list().operations


def test_a_start_names_a_waiter(web):
    response = web.post("/operations", json={"service": "kinesis", "max_wait": 5})
    is_problem(response, 400, "invalid_argument", "waiter")


def polling(service, operation, matcher=None):
    acceptor = {"state": "success", "matcher": matcher or {"success": True}}
    waitable = {"smithy.waiters#waitable": {"Mine": {"acceptors": [acceptor]}}}
    shapes = {f"x#{operation}": {"type": "apply", "traits": waitable}}
    definition = {"smithy": "2.0", "shapes": shapes}
    return {"service": service, "waiter": "Mine", "max_wait": 5, "definition": definition}


@experiments("is started over HTTP", "service", "operation", "parameters", "words")
def test_a_definition_polls_what_only_reads(real_web, store, service, operation, parameters, words):
    wait = {**polling(service, operation), "region": "us-east-1", "parameters": parameters}
    response = post(real_web, **wait)
    if words is None:
        assert response.status_code == 202
    else:
        is_problem(response, 400, "invalid_argument", operation)
        is_problem(response, 400, "invalid_argument", words)
        assert not store.list().operations


def test_a_definition_is_nested_as_deep_as_50(real_web):
    for levels, status in ((50, 202), (51, 400)):
        path = {"path": "|".join(["Table"] * levels), "expected": "x", "comparator": "stringEquals"}
        wait = polling("dynamodb", "DescribeTable", {"output": path})
        wait |= {"region": "us-east-1", "parameters": {"TableName": "orders"}}
        response = post(real_web, **wait)
        assert response.status_code == status, (levels, response.text)
    is_problem(response, 400, "invalid_argument", "nested")


def nested(levels):
    return json.dumps(WAIT).replace('"orders"', "[" * levels + "]" * levels)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{", b"\xff", b"[" * 9999, nested(300), '{"max_wait": NaN}']
)
def test_a_body_that_is_no_object(web, content):
    is_problem(web.post("/operations", content=content), 400, "invalid_argument")


def test_the_size_of_a_body_is_limited(web):
    # Two levels are around it.
    for levels, code in ((98, "invalid_parameters"), (99, "invalid_argument")):
        is_problem(web.post("/operations", content=nested(levels)), 400, code)
    for size, status, code in ((65_536, 400, "invalid_argument"), (65_537, 413, "too_large")):
        is_problem(web.post("/operations", content=b" " * size), status, code)


@pytest.mark.parametrize("size", ["1000", "9" * 5000, "0" * 5000 + "7"])
def test_a_large_page_is_cut(web, started, size):
    response = web.get("/operations", params={"page_size": size})
    assert [each["path"] for each in response.json()["results"]] == [started]


def page_token(position):
    return {"page_token": base64.urlsafe_b64encode(position.encode()).decode()}


@pytest.mark.parametrize(
    "query", [*REFUSED["queries"], *map(page_token, [*REFUSED["positions"], "[" * 5000])]
)
def test_wrong_queries_are_refused(web, query):
    is_problem(web.get("/operations", params=query), 400, "invalid_argument")


@pytest.mark.parametrize("change", ["\u00e9", "=", "!", "\0", "A"])
def test_a_changed_page_token_is_refused(web, started, change):
    post(web)
    token = web.get("/operations", params={"page_size": 1}).json()["next_page_token"]
    assert web.get("/operations", params={"page_token": token}).status_code == 200
    answer = web.get("/operations", params={"page_token": token + change})
    is_problem(answer, 400, "invalid_argument")


def test_other_methods_and_paths(web, started):
    is_problem(web.get(f"/{started}", params={"view": "full"}), 400, "invalid_argument")
    is_problem(web.delete(f"/{started}"), 405, "method_not_allowed")
    assert set(web.delete("/operations").headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}
    wrong = [f"/operations/{each}" for each in ("%00", "%ED%A0%80", "a" * 33)]
    for path in ("/else", f"/{started}%0A", *wrong):
        is_problem(web.get(path), 404, "not_found")
        is_problem(web.post(f"{path}:cancel"), 404, "not_found")
    is_problem(web.post(f"/{started}:cancel%0A"), 404, "not_found")
    assert not web.get(f"/{started}").json()["done"]


def test_half_a_character_of_a_service_is_shown(web, store, stream, active):
    half = {"StreamDescription": {**active["StreamDescription"], "StreamName": "\ud83d"}}
    path = post(web, include_response=True).json()["path"]
    store.work(until_idle=True, make_client=lambda _: stream(half))
    (shown,) = web.get("/operations").json()["results"]
    assert shown == web.get(f"/{path}").json()
    assert shown["response"]["response"] == half


def test_the_text_of_a_credential_process_is_not_told(real_web, tmp_path, monkeypatch):
    profile = "[profile own]\ncredential_process = sh -c 'echo key >&2; exit 1'"
    (tmp_path / "config").write_text(profile)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    detail = post(real_web, profile="own").json()["detail"]
    assert "CredentialRetrievalError" in detail
    assert "key" not in detail


# --- errors on the way ----------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["memory", "store", "encrypted"])
def test_errors_on_the_way_are_problems_in_the_metadata(open_store, stream, active, place):
    client = stream(THROTTLED, active)
    store = open_store(**({"encrypt": swapped, "decrypt": swapped} if place == "encrypted" else {}))
    options = {"max_wait": 60, "in_store": None if place == "memory" else store, **QUICK}
    operation = operations.start(client, "stream_exists", StreamName="orders", **options)
    store.work(until_idle=True, make_client=lambda _: client)
    operation.result(60)
    metadata = operation.to_json()["metadata"]
    assert metadata["attempts"] == 2
    error = metadata["last_error"]
    assert (error["code"], error["status"], error["attempt"]) == ("attempt_failed", 502, 1)
    assert error["detail"] == r"ThrottlingException: slow\x1b down"


def ended(client, waiter, **keywords):
    """The operation of a background wait that has ended."""
    operation = operations.start(client, waiter, max_wait=60, **QUICK, **keywords)
    operation.exception(20)
    return operation


def test_a_sensitive_message_is_no_part_of_the_last_error(answered):
    client = answered("proton", THROTTLED, {"environment": {"deploymentStatus": "SUCCEEDED"}})
    operation = ended(client, "environment_deployed", name="orders")
    assert operation.metadata["last_error"]["detail"] == "ThrottlingException"


def test_a_stored_error_says_where_a_sensitive_reason_was(answered):
    client = answered("stepfunctions", {"status": "FAILED", "cause": "secret"})
    operation = ended(client, "execution_succeeded", executionArn="error.last_response")
    assert operation.exception(0).last_response["cause"] == "secret"
    detail = operation.to_json()["error"]["detail"]
    assert "executionArn=error.last_response: " in detail
    assert ': the reason is in the response["cause"], not shown because the model' in detail


def test_an_error_that_a_waiter_retries_is_an_answer(stream, active):
    code = "ResourceNotFoundException"
    gone = {**THROTTLED, "Error": {"Code": code, "Message": "gone"}}
    states = {"path": "StreamDescription.StreamStatus", "success": ["ACTIVE"]}
    make = bwp.WaiterDefinition.from_states
    waiter = make("Made", "DescribeStream", **states, retry_on_error=[code])
    metadata = ended(stream(gone, active), waiter, StreamName="orders").metadata
    assert metadata["attempts"] == 2
    assert "last_error" not in metadata


def test_the_openapi_document_is_valid(document):
    assert document["info"]["version"] == bwp.__version__
    validate(document)
    # The only success of a start is 202.
    responses = document["paths"]["/operations"]["post"]["responses"]
    assert [status for status in responses if status.startswith("2")] == ["202"]
    assert list(responses["202"]["content"]) == ["application/json"]


def events_while(app, web, *changes):
    """The text of the events of a server that closes after these changes, one a check."""
    steps = iter(changes)
    app.state.is_closing = lambda: next(steps, lambda: True)() is True
    response = web.get("/operations:events")
    assert response.headers["content-type"].startswith("text/event-stream")
    return response.text


def test_events_show_changes(app, web, store, stream, virtual_time):
    paths = []

    def cancel():
        store.cancel(paths[0])

    begin = lambda: paths.append(start(store, stream()).path)  # noqa: E731
    text = events_while(app, web, int, begin, int, cancel)
    first, second, third, fourth = [
        line.removeprefix("data: ") for line in text.splitlines() if line
    ]
    assert (json.loads(first), third, json.loads(fourth)) == ([], ": nothing new", [])
    assert [each["path"] for each in json.loads(second)] == paths


def test_events_tell_how_many_workers_run(app, web, store, stream, virtual_time):
    start(store, stream())
    leases = []
    acquire = lambda: leases.append(store.database.acquire("worker-1", 30))  # noqa: E731
    release = lambda: store.database.release(leases[0])  # noqa: E731
    text = events_while(app, web, int, acquire, int, release)
    events = [each.partition("data: ")[0::2] for each in text.split("\n\n") if each]
    assert [data for kind, data in events if kind == "event: workers\n"] == ["1", "0"]
    assert sum(kind == "" for kind, _ in events) == 1  # of the operations, which have not changed


def test_another_site_cannot_cancel(app, started, web):
    """A browser sends no bearer token by itself, and is not allowed to send that of another."""
    other = TestClient(app, headers={"Origin": "https://example.com"})
    preflight = {"Access-Control-Request-Method": "POST"}
    preflight["Access-Control-Request-Headers"] = "authorization"
    path = f"/{started}:cancel"
    for answer in (other.post(path), other.options(path, headers=preflight)):
        is_problem(answer, 401, "unauthenticated")
        assert not [name for name in answer.headers if name.startswith("access-control-")]
    assert not web.get(f"/{started}").json()["done"]
    assert "frame-ancestors 'none'" in other.get("/").headers["content-security-policy"]


def test_a_stream_ends_where_the_store_fails(app, store, virtual_time):
    web = TestClient(app, headers=TOKEN)  # raises what a server would log
    assert events_while(app, web, int, store.close, int) == "data: []\n\n"
    for path in ("/operations", "/operations:events"):
        is_problem(web.get(path), 503, "unavailable", "closed")
