"""The sockets of bounded calls, over connections within the process: what is cut off is closed."""

import contextlib
import ssl
import threading
from types import SimpleNamespace

import pytest
import urllib3.util.connection
from botocore.exceptions import ConnectionClosedError
from calls.support import make_client, until_cut
from faults.scenarios import retry_quota
from faults.server import response
from faults.support import TELLS_ARRIVALS, aside

from boto_waiters_plus.calls.bounded_call import bounded_call
from boto_waiters_plus.calls.budget import CallEnded
from boto_waiters_plus.calls.watch import watchdog

HEAD, BODY = response(body=b'{"TableNames": ["table"]}')
# http.client closes such a connection before it reads the body.
LAST_HEAD, _ = response(body=BODY, headers={"Connection": "close"})
PARTS = {
    "before headers": b"",
    "between headers": HEAD[:40],
    "mid-body": HEAD + BODY[:9],
    "mid-body of a last answer": LAST_HEAD + BODY[:9],
}


def say(exchange):
    exchange.send(HEAD + BODY)


def bounded(client, **options):
    return bounded_call(client.list_tables, client=client, **{"seconds": 60, **options})


def is_closed(exchange):
    """Return whether the other end of a connection is closed, however often it was duplicated."""
    exchange.sock.settimeout(60)
    with contextlib.suppress(ConnectionError):
        while exchange.sock.recv(65536):
            pass
    return True


@pytest.fixture(params=["deadline", "cancelled"])
def cut(request, clock):
    """What ends a call: `reason`, the `event` to pass on, and `now()`."""
    event = threading.Event() if request.param == "cancelled" else None

    def now():
        if event:
            event.set()
        # A call has its first moment before its event is listened to.
        clock.advance(1 if event else 1000)

    return SimpleNamespace(reason=request.param, event=event, now=now)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("mode", ["legacy", "standard", "adaptive"])
def test_cut_off_connection_is_closed_and_not_used_again(peers, cut, part, mode):
    """The next call, which is the caller's own, is answered and has the whole retry quota.

    In the adaptive mode calls are made in threads.
    """
    client = make_client(mode=mode)
    quota = retry_quota(client)

    def stop_halfway(exchange):
        exchange.send(PARTS[part])
        cut.now()
        closed.append(is_closed(exchange))

    closed = []
    serving = peers.serve(say, stop_halfway)
    bounded(client)
    with pytest.raises(CallEnded, match=cut.reason):
        bounded(client, cancel_event=cut.event)
    serving.join(60)
    assert closed == [True]
    peers.serve(say)
    assert client.list_tables()["TableNames"] == ["table"]
    assert retry_quota(client) == quota
    assert len(peers.connections) == 2
    client.close()


def test_answer_that_closes_its_connection_is_read(peers):
    """Its body is larger than what a socket holds, so most of it comes after the close."""
    body = BODY[:-1] + b', "Rest": "' + b"x" * 2**22 + b'"}'
    head, _ = response(body=body, headers={"Connection": "close"})
    peers.serve(lambda exchange: exchange.send(head + body))
    client = make_client(attempts=1)
    assert bounded(client)["TableNames"] == ["table"]
    peers.serve(say)
    assert bounded(client)["TableNames"] == ["table"]


def test_connection_that_another_call_uses_is_not_cut_off(peers, clock):
    """The first call has its answer, but not its end, when the second uses the connection."""
    client = make_client(max_pool_connections=1)
    asked, go_on, answers = threading.Event(), threading.Event(), []

    def say_later(exchange):
        asked.set()
        go_on.wait(60)
        say(exchange)

    def pass_the_deadline(**_):
        client.meta.events.unregister("after-call.dynamodb", pass_the_deadline)
        second = aside(lambda: answers.append(client.list_tables()))
        asked.wait(60)
        clock.advance()
        until_cut()
        go_on.set()
        second.join(60)

    peers.serve(say, say_later)
    client.meta.events.register("after-call.dynamodb", pass_the_deadline)
    with contextlib.nullcontext() if TELLS_ARRIVALS else pytest.raises(CallEnded):
        bounded(client)
    assert answers[0]["TableNames"] == ["table"]
    assert answers[0]["ResponseMetadata"]["RetryAttempts"] == 0
    assert len(peers.connections) == 1


@pytest.mark.skipif(not TELLS_ARRIVALS, reason="the answer is taken for a late one")
def test_connection_that_is_cut_off_after_its_answer_is_closed(peers, clock):
    """It is in its pool already."""

    def pass_the_deadline(**_):
        clock.advance()
        until_cut()

    client = make_client()
    client.meta.events.register("after-call.dynamodb", pass_the_deadline)
    peers.serve(say)
    assert bounded(client)["TableNames"] == ["table"]
    assert peers.connections[0].fileno() == -1


def test_connection_from_before_the_first_bounded_call_is_not_used(peers, clock):
    client = make_client()
    peers.serve(say)
    client.list_tables()
    peers.serve(lambda _: clock.advance())
    with pytest.raises(CallEnded, match="deadline"):
        bounded(client)


@pytest.mark.parametrize(("seconds", "connect_timeout", "read_timeout"), [(60, 5, 7), (3, 3, 3)])
@pytest.mark.parametrize("is_watched", [True, False])
@pytest.mark.usefixtures("clock")
def test_shorter_of_time_left_and_own_timeout_holds(
    peers, monkeypatch, seconds, connect_timeout, read_timeout, is_watched
):
    """The watchdog, if there is one, ends what is read."""
    if not is_watched:
        monkeypatch.setattr(watchdog, "watch", lambda _: False)
    client = make_client(read_timeout=7, connect_timeout=5)
    peers.serve(say)
    warns = pytest.warns(RuntimeWarning, match="socket timeouts")
    with contextlib.nullcontext() if is_watched else warns:
        bounded(client, seconds=seconds)
    assert peers.connect_timeouts == [pytest.approx(connect_timeout)]
    timeout = 7 if is_watched else read_timeout
    assert peers.connections[0].gettimeout() == pytest.approx(timeout)


def test_connecting_that_nobody_answers_is_given_up(peers, cut, monkeypatch):
    """The socket that comes afterwards is closed."""
    go_on = threading.Event()

    def connect(*arguments, **options):
        sock = peers.connect(*arguments, **options)
        cut.now()
        go_on.wait(60)
        return sock

    monkeypatch.setattr(urllib3.util.connection, "create_connection", connect)
    with pytest.raises(CallEnded, match=cut.reason):
        bounded(make_client(url="http://example.test:9"), cancel_event=cut.event)
    go_on.set()
    assert is_closed(peers.accept())


def test_body_of_a_stream_can_be_read_after_the_deadline(peers, clock):
    client = make_client("s3")
    peers.serve(say)
    call = lambda: client.get_object(Bucket="bucket", Key="key")  # noqa: E731 - one line
    stream = bounded_call(call, client=client, seconds=60)["Body"]
    clock.advance()
    assert stream.read() == BODY


# --- TLS ---------------------------------------------------------------------------------------


def test_tls_handshake_that_is_cut_off_leaves_no_socket(peers, cut):
    client = make_client(url="https://127.0.0.1:9")
    exchanges = []

    def cut_after_the_hello():
        exchanges.append(peers.accept())
        exchanges[0].sock.recv(65536)
        cut.now()

    aside(cut_after_the_hello)
    with pytest.raises(CallEnded, match=cut.reason) as caught:
        bounded(client, cancel_event=cut.event)
    # Though the frames of the error hold what the call had.
    assert caught.value.__cause__ is not None
    assert is_closed(exchanges[0])


@pytest.mark.parametrize("error", [ConnectionResetError, KeyboardInterrupt])
def test_tls_socket_is_closed_where_ssl_leaves_it_open(peers, monkeypatch, error):
    """As where the server resets the connection before the handshake."""

    def raise_error(_):
        raise error

    monkeypatch.setattr(ssl.SSLSocket, "getpeername", raise_error)
    with pytest.raises((ConnectionClosedError, KeyboardInterrupt)) as caught:
        bounded(make_client(url="https://127.0.0.1:9"))
    assert caught.value.__traceback__ is not None
    assert is_closed(peers.accept())
