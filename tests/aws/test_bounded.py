"""The bounded call without a network: time, threads, nesting, what is hooked, who is in the way."""

import contextvars
import functools
import gc
import http.client
import inspect
import math
import threading
import time
import weakref
from unittest import mock

import boto3
import botocore.awsrequest
import botocore.endpoint
import pytest
from botocore.exceptions import ClientError, ConnectionClosedError
from botocore.stub import Stubber
from freezegun import freeze_time

from boto_waiters_plus.aws import connections, private_names, watchdog
from boto_waiters_plus.aws.bounded import Abandoned, CancelledInFlight, bounded_call
from boto_waiters_plus.testing import virtual_time

SOON = 0.05
LATE = 0.15
MANY_SECONDS = 60


def own_threads():
    return [t for t in threading.enumerate() if t.name.startswith("boto_waiters_plus")]


@functools.cache
def session():
    return boto3.Session()


def client():
    return session().client(
        "dynamodb",
        region_name="us-east-1",
        endpoint_url="http://127.0.0.1:9",
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
    )


def pause(seconds):
    """Let real time pass, whatever is patched."""
    threading.Event().wait(seconds)


def late(result=None, error=None):
    def call():
        pause(LATE)
        if error is not None:
            raise error
        return result

    return call


@pytest.fixture(autouse=True)
def _as_before():
    yield
    connections.set_process_wide(True)
    connections.unhook_connections()


# --- what comes back -------------------------------------------------------------------------


def test_without_a_bound_the_call_is_just_made():
    connections.unhook_connections()  # Whatever tests of another folder have left.
    seen = []
    call = lambda: seen.append(watchdog.current_scope()) or "result"  # noqa: E731 - one line
    assert bounded_call(call, client=None, seconds=None) == "result"
    assert seen == [None]
    assert connections._hooks._put == []


def test_result_in_time_is_returned():
    assert bounded_call(lambda: "result", client=None, seconds=MANY_SECONDS) == "result"


def test_error_in_time_is_raised_as_it_is():
    error = KeyError("x")
    with pytest.raises(KeyError) as caught:
        bounded_call(mock.Mock(side_effect=error), client=None, seconds=MANY_SECONDS)
    assert caught.value is error


def test_late_result_is_no_result():
    with pytest.raises(Abandoned) as caught:
        bounded_call(late("result"), client=None, seconds=SOON)
    assert caught.value.__cause__ is None


def test_late_error_is_the_cause():
    error = KeyError("x")
    with pytest.raises(Abandoned) as caught:
        bounded_call(late(error=error), client=None, seconds=SOON)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("seconds", [0, -1, -math.inf, math.nan])
def test_with_no_time_left_nothing_is_called(seconds):
    call = mock.Mock()
    with pytest.raises(Abandoned):
        bounded_call(call, client=None, seconds=seconds)
    call.assert_not_called()


@pytest.mark.parametrize("seconds", [1e308, math.inf, 10**9])
def test_a_deadline_beyond_all_clocks_is_none(seconds):
    assert bounded_call(lambda: "result", client=None, seconds=seconds) == "result"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("in_thread", [False, True])
def test_what_ends_the_program_passes_even_when_late(error, in_thread):
    call = late(error=error()) if not in_thread else mock.Mock(side_effect=error())
    seconds = MANY_SECONDS if in_thread else SOON
    with pytest.raises(error):
        bounded_call(call, client=None, seconds=seconds, in_thread=in_thread)
    assert watchdog._watchdog._scopes == set()


# --- cancelling ------------------------------------------------------------------------------


def test_a_set_event_lets_nothing_be_called():
    event = threading.Event()
    event.set()
    call = mock.Mock()
    with pytest.raises(CancelledInFlight):
        bounded_call(call, client=None, seconds=None, cancel_event=event)
    call.assert_not_called()


def test_result_is_no_result_once_cancelled():
    event = threading.Event()

    def call():
        event.set()
        pause(LATE)
        return "result"

    with pytest.raises(CancelledInFlight):
        bounded_call(call, client=None, seconds=None, cancel_event=event)


def test_an_event_that_cannot_be_asked_does_not_stop_the_watchdog():
    event = mock.Mock()
    event.is_set.side_effect = [False, *[RuntimeError] * 1000]
    with pytest.raises(Abandoned):
        bounded_call(late(), client=None, seconds=SOON, cancel_event=event)
    assert event.is_set.call_count > 1


# --- time ------------------------------------------------------------------------------------


def test_a_frozen_clock_does_not_keep_the_deadline_away():
    with freeze_time("2026-01-01"), pytest.raises(Abandoned):
        bounded_call(late(), client=None, seconds=SOON)


def test_a_clock_set_forward_does_not_bring_the_deadline_near():
    with freeze_time("2026-01-01") as frozen:
        call = lambda: frozen.tick(3600) and "result"  # noqa: E731 - one line
        assert bounded_call(call, client=None, seconds=MANY_SECONDS) == "result"


def test_virtual_time_neither_brings_the_deadline_near_nor_keeps_it_away():
    with virtual_time() as clock:
        assert bounded_call(lambda: clock.advance(3600), client=None, seconds=MANY_SECONDS) is None
        with pytest.raises(Abandoned):
            bounded_call(late(), client=None, seconds=SOON)


def test_the_clock_is_real_even_if_first_asked_for_while_time_is_frozen():
    with freeze_time("2026-01-01"):
        monotonic = watchdog._untouched_monotonic()
        before = monotonic()
        pause(0.01)
        assert monotonic() > before


# --- nesting and threads ---------------------------------------------------------------------


def test_an_inner_call_ends_with_the_outer_one():
    ended = []

    def outer():
        try:
            bounded_call(late(), client=None, seconds=MANY_SECONDS)
        except Abandoned:
            ended.append("inner")
        return "result"

    with pytest.raises(Abandoned):
        bounded_call(outer, client=None, seconds=SOON)
    assert ended == ["inner"]


def test_an_inner_call_may_end_before_the_outer_one():
    def outer():
        with pytest.raises(Abandoned):
            bounded_call(late(), client=None, seconds=SOON)
        return "result"

    assert bounded_call(outer, client=None, seconds=MANY_SECONDS) == "result"


def test_cancelling_the_outer_call_cancels_the_inner_one():
    event, ended = threading.Event(), []

    def inner():
        event.set()
        pause(LATE)

    def outer():
        try:
            bounded_call(inner, client=None, seconds=MANY_SECONDS)
        except CancelledInFlight:
            ended.append("inner")

    with pytest.raises(CancelledInFlight):
        bounded_call(outer, client=None, seconds=None, cancel_event=event)
    assert ended == ["inner"]


def test_a_thread_that_copies_the_context_is_not_bounded():
    seen = []

    def call():
        context = contextvars.copy_context()
        thread = threading.Thread(
            target=context.run, args=[lambda: seen.append(watchdog.current_scope())]
        )
        thread.start()
        thread.join(60)
        seen.append(watchdog.current_scope())

    bounded_call(call, client=None, seconds=MANY_SECONDS)
    assert seen[0] is None
    assert seen[1] is not None


def test_one_thread_watches_over_all_calls_and_ends_when_idle():
    barrier = threading.Barrier(21)

    def call():
        barrier.wait(60)
        barrier.wait(60)

    def bounded():
        bounded_call(call, client=None, seconds=MANY_SECONDS)

    threads = [threading.Thread(target=bounded) for _ in range(20)]
    for thread in threads:
        thread.start()
    barrier.wait(60)
    assert len(own_threads()) == 1
    assert own_threads()[0].daemon
    barrier.wait(60)
    for thread in threads:
        thread.join(60)
    own_threads()[0].join(10)
    assert own_threads() == []


def test_the_watchdog_starts_again_after_it_ended():
    for _ in range(2):
        with pytest.raises(Abandoned):
            bounded_call(late(), client=None, seconds=SOON)
        assert len(own_threads()) == 1
        own_threads()[0].join(10)
        assert own_threads() == []


def test_the_idle_watchdog_ends_within_a_second():
    # Twice the time between two looks: in the first one it still sees that it was used.
    assert 2 * watchdog.LINGER < 1


def test_where_no_thread_can_be_started_calls_are_made_nevertheless():
    for thread in own_threads():
        thread.join(10)
    with mock.patch.object(threading.Thread, "start", side_effect=RuntimeError("no more")):
        assert bounded_call(lambda: "result", client=None, seconds=MANY_SECONDS) == "result"
        with pytest.raises(Abandoned):
            bounded_call(late(), client=None, seconds=SOON)


def test_a_signal_handler_may_wait_while_its_thread_holds_the_lock():
    with watchdog._watchdog.lock:
        assert bounded_call(lambda: "result", client=None, seconds=MANY_SECONDS) == "result"


def test_in_a_thread_any_call_is_given_up_at_the_deadline():
    go_on = threading.Event()
    began = time.perf_counter()
    with pytest.raises(Abandoned):
        bounded_call(lambda: go_on.wait(30), client=None, seconds=SOON, in_thread=True)
    assert time.perf_counter() - began < 10
    assert any("call" in thread.name and thread.daemon for thread in own_threads())
    go_on.set()
    for thread in own_threads():
        thread.join(10)
    assert own_threads() == []


def test_in_a_thread_result_error_and_context_are_the_callers():
    variable = contextvars.ContextVar("variable", default="unset")
    variable.set("set")

    def bounded(call):
        return bounded_call(call, client=None, seconds=MANY_SECONDS, in_thread=True)

    assert bounded(variable.get) == "set"
    assert bounded(threading.get_ident) != threading.get_ident()
    with pytest.raises(KeyError, match="x"):
        bounded(mock.Mock(side_effect=KeyError("x")))


def test_in_a_thread_cancelling_gives_the_call_up():
    event, go_on = threading.Event(), threading.Event()

    def call():
        event.set()
        go_on.wait(30)

    with pytest.raises(CancelledInFlight):
        bounded_call(call, client=None, seconds=None, cancel_event=event, in_thread=True)
    go_on.set()


# --- clients ---------------------------------------------------------------------------------


def test_a_client_is_registered_with_once():
    one = client()
    with mock.patch.object(one.meta.events, "register_first") as register:
        for _ in range(3):
            bounded_call(lambda: None, client=one, seconds=MANY_SECONDS)
    assert register.call_count == 1


def test_a_client_is_not_kept_alive():
    one = client()
    bounded_call(lambda: None, client=one, seconds=MANY_SECONDS)
    reference = weakref.ref(one)
    del one
    gc.collect()
    assert reference() is None


def test_a_stand_in_for_a_client_will_do():
    assert bounded_call(lambda: 1, client=mock.MagicMock(), seconds=MANY_SECONDS) == 1


def test_stubber_answers_inside_a_scope():
    one = client()
    with Stubber(one) as stubber:
        stubber.add_response("list_tables", {"TableNames": ["table"]})
        stubber.add_client_error("list_tables", "ResourceNotFoundException")
        result = bounded_call(one.list_tables, client=one, seconds=MANY_SECONDS)
        assert result["TableNames"] == ["table"]
        with pytest.raises(one.exceptions.ResourceNotFoundException):
            bounded_call(one.list_tables, client=one, seconds=MANY_SECONDS)


def test_moto_answers_inside_a_scope():
    moto = pytest.importorskip("moto")
    with moto.mock_aws():
        one = boto3.Session().client("dynamodb", region_name="us-east-1")
        result = bounded_call(one.list_tables, client=one, seconds=MANY_SECONDS)
        assert result["TableNames"] == []
        with pytest.raises(one.exceptions.ResourceNotFoundException):
            bounded_call(
                lambda: one.describe_table(TableName="none"), client=one, seconds=MANY_SECONDS
            )


def test_a_recorder_in_the_place_of_connections_is_left_alone():
    requests = []

    class Recorded(CLASSES[0]):
        """Answers without a socket, as recorders do."""

        sock = property(lambda _: None, lambda *_: None)

        def request(self, method, url, *_, **__):
            requests.append((method, url))

        def getresponse(self, *_, **__):
            raise http.client.RemoteDisconnected("played to its end")

    pool = botocore.awsrequest.AWSHTTPConnectionPool
    with mock.patch.object(pool, "ConnectionCls", Recorded):
        one = client()
        with pytest.raises(ConnectionClosedError):
            bounded_call(one.list_tables, client=one, seconds=0.5)
        assert pool.ConnectionCls is Recorded
        assert "connect" not in Recorded.__dict__
    assert requests[0] == ("POST", "/")


def test_a_recorders_pool_is_not_taken_over_for_one_client():
    pool = botocore.awsrequest.AWSHTTPConnectionPool
    with mock.patch.object(pool, "ConnectionCls", mock.Mock()):
        assert not connections.use_per_client_connections(client())


# --- what is changed, and taken back ---------------------------------------------------------

CLASSES = [botocore.awsrequest.AWSHTTPConnection, botocore.awsrequest.AWSHTTPSConnection]


def attributes():
    return [dict(cls.__dict__) for cls in CLASSES]


def test_hooking_again_changes_nothing():
    connections.hook_connections()
    once = attributes()
    connections.hook_connections()
    assert attributes() == once


def test_unhooking_leaves_everything_as_it_was():
    connections.unhook_connections()
    before = attributes()
    acquire = private_names.token_bucket().acquire
    assert connections.hook_connections()
    assert attributes() != before
    assert botocore.endpoint.time is not time
    connections.unhook_connections()
    assert attributes() == before
    assert botocore.endpoint.time is time
    assert private_names.token_bucket().acquire is acquire


def test_what_others_have_put_on_top_stays():
    connections.hook_connections()
    theirs = lambda _: None  # noqa: E731 - a method of somebody
    with mock.patch.object(CLASSES[0], "connect", theirs):
        connections.unhook_connections()
        assert CLASSES[0].connect is theirs
        assert "connect" not in CLASSES[1].__dict__
    # The mock has put back what it found.
    connections.unhook_connections()
    assert "connect" not in CLASSES[0].__dict__


def test_what_a_closed_mock_has_undone_is_done_again():
    with mock.patch.object(CLASSES[0], "connect"):
        connections.hook_connections()
    assert "connect" not in CLASSES[0].__dict__
    bounded_call(lambda: None, client=None, seconds=MANY_SECONDS)
    assert "connect" in CLASSES[0].__dict__


def test_one_client_alone_changes_nothing_process_wide():
    connections.set_process_wide(False)
    before = attributes()
    one, other = client(), client()
    bounded_call(lambda: None, client=one, seconds=MANY_SECONDS)
    assert attributes() == before
    assert botocore.endpoint.time is time
    pools = private_names.pools_of(one)
    assert pools["http"] is not botocore.awsrequest.AWSHTTPConnectionPool
    assert issubclass(pools["http"].ConnectionCls, CLASSES[0])
    assert issubclass(pools["https"].ConnectionCls, CLASSES[1])
    assert private_names.pools_of(other)["http"] is botocore.awsrequest.AWSHTTPConnectionPool


def test_taking_over_one_client_again_changes_nothing():
    one = client()
    assert connections.use_per_client_connections(one)
    pools = dict(private_names.pools_of(one))
    with mock.patch.object(one, "close") as close:
        assert connections.use_per_client_connections(one)
    assert private_names.pools_of(one) == pools
    close.assert_not_called()


def test_a_client_that_cannot_be_taken_over_is_called_in_a_thread():
    connections.set_process_wide(False)
    one = client()
    with mock.patch.object(connections, "pools_of", return_value=None):
        ident = bounded_call(threading.get_ident, client=one, seconds=MANY_SECONDS)
    assert ident != threading.get_ident()


def test_sleeps_that_a_test_has_patched_are_called():
    with mock.patch("time.sleep") as sleep:
        connections.hook_connections()
        bounded_call(lambda: botocore.endpoint.time.sleep(30), client=None, seconds=MANY_SECONDS)
    sleep.assert_called_once_with(30)


def test_patching_botocores_own_sleep_still_reaches_it():
    connections.hook_connections()
    with mock.patch("botocore.endpoint.time.sleep") as sleep:
        botocore.endpoint.time.sleep(30)
    sleep.assert_called_once_with(30)
    assert botocore.endpoint.time.time is time.time


def test_waiting_for_the_adaptive_modes_turn_ends_at_the_deadline():
    # By this clock the turn never comes.
    bucket = private_names.token_bucket()(max_rate=1, clock=mock.Mock(current_time=lambda: 0.0))
    ended = []

    def call():
        with pytest.raises(Abandoned):
            bounded_call(lambda: bucket.acquire(), client=None, seconds=SOON)  # noqa: PLW0108 - looked up inside
        ended.append(True)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(10)
    assert ended == [True]


def test_a_turn_of_the_adaptive_mode_that_comes_is_taken():
    now = [0.0]
    bucket = private_names.token_bucket()(max_rate=1, clock=mock.Mock(current_time=lambda: now[0]))

    def let_time_pass(_, seconds):
        now[0] += seconds

    with mock.patch.object(watchdog.Scope, "sleep", let_time_pass):
        call = lambda: bucket.acquire()  # noqa: E731, PLW0108 - looked up inside
        assert bounded_call(call, client=None, seconds=MANY_SECONDS) is True
    assert 1 <= now[0] < 1.1
    assert bucket.available_capacity < 0.1


def test_without_a_scope_the_adaptive_modes_bucket_is_botocores():
    connections.hook_connections()
    bucket_class = private_names.token_bucket()
    clock = mock.Mock(current_time=lambda: 0.0)
    bucket = bucket_class(max_rate=10, clock=clock)
    bucket._current_capacity = 1
    assert bucket.acquire() is True
    with pytest.raises(Exception, match="Insufficient request capacity available"):
        bucket.acquire(block=False)


# --- names -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "AWSHTTPConnection.connect",
        "AWSHTTPConnection.request",
        "AWSHTTPConnection._new_conn",
        "AWSHTTPSConnection.connect",
        "AWSHTTPSConnection.request",
        "AWSHTTPSConnection._new_conn",
    ],
)
def test_botocores_connections_still_have(name):
    cls, _, attribute = name.partition(".")
    assert callable(getattr(getattr(botocore.awsrequest, cls), attribute))


@pytest.mark.parametrize("name", ["timeout", "socket_options", "host", "port", "sock"])
def test_botocores_connections_still_have_the_attribute(name):
    connection = botocore.awsrequest.AWSHTTPSConnection("127.0.0.1", port=9)
    assert hasattr(connection, name)


def test_botocore_endpoint_still_pauses_by_its_time_module():
    assert botocore.endpoint.time is time
    assert "time.sleep(" in inspect.getsource(botocore.endpoint.Endpoint._needs_retry)


def test_the_adaptive_modes_bucket_is_still_where_it_was():
    parameters = inspect.signature(private_names.token_bucket().acquire).parameters
    assert list(parameters) == ["self", "amount", "block"]
    assert isinstance(private_names.token_bucket().available_capacity, property)
    assert isinstance(private_names.token_bucket().max_rate, property)


def test_the_pools_of_a_client_are_still_where_they_were():
    assert set(private_names.pools_of(client())) == {"http", "https"}


def test_the_scale_of_the_standard_modes_pauses_is_known_or_assumed():
    assert 0 < private_names.non_throttling_scale("dynamodb") <= 1
    assert 0 < private_names.non_throttling_scale("s3") <= 1
    with mock.patch.object(private_names, "retries", None):
        assert private_names.non_throttling_scale("s3") == 1


def test_a_modelled_error_is_still_made_by_the_clients_exceptions():
    error_class = client().exceptions.from_code("ResourceNotFoundException")
    assert issubclass(error_class, ClientError)
    assert error_class is not ClientError
