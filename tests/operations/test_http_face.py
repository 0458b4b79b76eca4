"""The HTTP face: AEP-151's methods and statuses, errors in one form."""

import base64
import json
import socket
import threading
import time

import httpx2 as httpx
import pytest
import uvicorn
from openapi_spec_validator import validate
from starlette.testclient import TestClient

from boto_waiters_plus import operations
from boto_waiters_plus.operations.openapi import LARGEST_BODY, document

TOKEN = {"Authorization": "Bearer word"}
WAIT = {
    "service": "kinesis",
    "waiter": "stream_exists",
    "max_wait": 60,
    "parameters": {"StreamName": "orders"},
    "options": {"min_delay": 0.01, "max_delay": 0.02},
}


@pytest.fixture
def app(store, stream, active):
    return operations.asgi(store, token="word", make_client=lambda *_: stream(active))


@pytest.fixture
def web(app):
    return TestClient(app, headers=TOKEN, raise_server_exceptions=False)


@pytest.fixture
def started(web):
    return web.post("/operations", json=WAIT).json()["path"]


def is_problem(response, status, code):
    body = response.json()
    assert response.status_code == status, body
    assert response.headers["content-type"] == "application/problem+json"
    assert (body["status"], body["code"]) == (status, code)
    assert body.keys() >= {"type", "title", "detail"}
    return body["detail"]


def test_a_start_is_accepted_with_an_operation(web, store):
    response = web.post("/operations", json=WAIT)
    assert response.status_code == 202
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert body["done"] is False
    assert body == web.get(f"/{body['path']}").json() == store.get_json(body["path"])


def test_the_end_is_seen(web, store, stream, active, started):
    store.work(until_idle=True, make_client=lambda _: stream(active))
    response = web.get(f"/{started}")
    assert response.status_code == 200
    assert response.json()["response"]["kind"] == "response"


def test_list_takes_filters_and_page_tokens(web):
    paths = [web.post("/operations", json=WAIT).json()["path"] for _ in range(3)]
    first = web.get("/operations", params={"page_size": 2, "state": "open"}).json()
    token = first["next_page_token"]
    rest = web.get("/operations", params={"page_size": 2, "state": "open", "page_token": token})
    listed = [each["path"] for each in first["results"] + rest.json()["results"]]
    assert listed == paths[::-1]
    assert rest.json()["next_page_token"] is None


def test_cancel(web, started):
    response = web.post(f"/{started}:cancel")
    assert response.status_code == 200
    assert response.json()["error"]["code"] == "cancelled"
    assert web.post(f"/{started}:cancel").json()["error"]["code"] == "cancelled"


def test_a_parallel_exclusive_wait_conflicts(web):
    wait = {**WAIT, "exclusive_key": "deploy"}
    first = web.post("/operations", json=wait).json()["path"]
    detail = is_problem(web.post("/operations", json=wait), 409, "conflict")
    assert "exclusive_key" in detail
    web.post(f"/{first}:cancel")
    assert web.post("/operations", json=wait).status_code == 202


def test_an_expired_operation_is_not_found(web, store, started):
    web.post(f"/{started}:cancel")
    store.expire(0)
    assert "expired" in is_problem(web.get(f"/{started}"), 404, "not_found")
    is_problem(web.post(f"/{started}:cancel"), 404, "not_found")


@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "w"}])
def test_without_the_token_nothing_is_told(app, started, header):
    web = TestClient(app, headers=header)
    for path in ("/operations", f"/{started}", "/openapi.json", "/operations:events", "/other"):
        response = web.get(path)
        is_problem(response, 401, "unauthenticated")
        assert response.headers["www-authenticate"] == "Bearer"
    assert web.post("/operations", json=WAIT).status_code == 401
    assert "Open waits" in web.get("/").text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"waiter": "stream_exist"}, "did you mean"),
        ({"max_wait": -1}, "max_wait"),
        ({"max_wait": True}, "max_wait"),
        ({"max_wait": "1"}, "max_wait"),
        ({"other": 1}, "unknown member"),
        ({"options": {"on_attempt": 1}}, "on_attempt"),
        ({"options": {"profile_name": "x"}}, "profile_name"),
        ({"parameters": {"make_client": 1}}, "make_client"),
        ({"definition": {}}, "neither Smithy JSON AST"),
        ({"exclusive_key": "\0"}, "exclusive_key"),
        ({"exclusive_key": "x" * 201}, "exclusive_key"),
    ],
)
def test_wrong_starts_are_refused(web, store, change, words):
    assert words in is_problem(
        web.post("/operations", json={**WAIT, **change}), 400, "invalid_argument"
    )
    assert not store.list().operations


def test_an_incomplete_start_is_refused(web):
    start = {**WAIT, "definition": {"smithy": "2.0", "shapes": {}}}
    detail = is_problem(web.post("/operations", json=start), 400, "invalid_argument")
    assert "definition has no waiter 'stream_exists'" in detail
    start = {"service": "kinesis", "max_wait": 5}
    assert "waiter is missing" in is_problem(
        web.post("/operations", json=start), 400, "invalid_argument"
    )


# What other tests left is set aside: its finalizers would find no stack below a nested body.
@pytest.mark.usefixtures("collect_garbage")
@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"[" * 9999])
def test_a_body_that_is_no_object(web, content):
    is_problem(web.post("/operations", content=content), 400, "invalid_argument")


def test_an_unknown_service(store):
    web = TestClient(operations.asgi(store, token="word"), headers=TOKEN)
    wait = {**WAIT, "service": "kinesys"}
    detail = is_problem(web.post("/operations", json=wait), 400, "invalid_argument")
    assert detail == "botocore has no service 'kinesys'"


def test_a_large_body_is_refused(web):
    content = b" " * (LARGEST_BODY + 1)
    is_problem(web.post("/operations", content=content), 413, "too_large")


def test_get_takes_the_path_only(web, started):
    is_problem(web.get(f"/{started}", params={"view": "full"}), 400, "invalid_argument")
    is_problem(web.get("/operations", params={"page_size": "x"}), 400, "invalid_argument")
    is_problem(web.get("/operations?state=open&state=done"), 400, "invalid_argument")


@pytest.mark.parametrize("size", ["1000", "9" * 30, "9" * 5000, "0" * 5000 + "7"])
def test_a_large_page_is_cut(web, started, size):
    response = web.get("/operations", params={"page_size": size})
    assert [each["path"] for each in response.json()["results"]] == [started]


@pytest.mark.parametrize("size", ["0", "-1", "+1", " 1", "1_0", "1.5", "\u0661", "", "x"])
def test_a_page_size_is_a_number(web, size):
    is_problem(web.get("/operations", params={"page_size": size}), 400, "invalid_argument")


@pytest.mark.parametrize("position", ['[NaN, "x"]', "[1e999]", "[" + "1" * 400 + ', "x"]', "1", ""])
def test_a_page_token_of_another_is_refused(web, position):
    token = base64.urlsafe_b64encode(position.encode()).decode()
    is_problem(web.get("/operations", params={"page_token": token}), 400, "invalid_argument")


@pytest.mark.parametrize("max_wait", [1e12, 1e300])
def test_a_far_deadline_can_be_shown(web, max_wait):
    response = web.post("/operations", json={**WAIT, "max_wait": max_wait})
    assert response.json()["metadata"]["deadline"].startswith("9999-12-31")
    assert web.get("/operations").json()["results"] == [response.json()]


def test_other_methods_and_paths(web, started):
    is_problem(web.delete(f"/{started}"), 405, "method_not_allowed")
    allowed = web.delete("/operations").headers["allow"]
    assert set(allowed.split(", ")) == {"GET", "HEAD", "POST"}
    is_problem(web.get("/else"), 404, "not_found")


def test_a_store_that_fails_is_unavailable():
    store = operations.Store("postgresql://me:hidden-word@127.0.0.1:1/waits")
    web = TestClient(operations.asgi(store, token="word"), headers=TOKEN)
    assert "hidden-word" not in is_problem(web.get("/operations"), 503, "unavailable")


def test_the_token_must_not_be_empty(store):
    with pytest.raises(ValueError, match="token"):
        operations.asgi(store, token="")


def test_the_openapi_document_is_valid(web):
    assert web.get("/openapi.json").json() == document()
    validate(document())


def test_only_202_is_a_success_of_start():
    responses = document()["paths"]["/operations"]["post"]["responses"]
    assert [status for status in responses if status.startswith("2")] == ["202"]
    assert list(responses["202"]["content"]) == ["application/json"]


@pytest.fixture
def address(app):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error", ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{port}"
    server.force_exit = server.should_exit = True
    thread.join(10)


def test_events_show_changes(address, store, stream, active):
    def data(lines):
        for line in lines:
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))

    with httpx.stream("GET", f"{address}/operations:events", headers=TOKEN, timeout=10) as stream_:
        assert stream_.headers["content-type"].startswith("text/event-stream")
        events = data(stream_.iter_lines())
        assert next(events) == []
        path = httpx.post(f"{address}/operations", headers=TOKEN, json=WAIT).json()["path"]
        assert [each["path"] for each in next(events)] == [path]
        httpx.post(f"{address}/{path}:cancel", headers=TOKEN)
        assert next(events) == []
