"""Waits whose calls are cut off, cancelled or disturbed by the hooks of the user."""

import threading

import botocore.session
import pytest
from calls.support import answered_client, make_client, respond
from faults.scenarios import TABLE, WAITS, get_waiter, in_a_batch, wait_until
from faults.server import response

import boto_waiters_plus as bwp
from boto_waiters_plus.calls.budget import current_budget

PHASES = ["before-parameter-build", "before-call", "before-sign", "before-send", "after-call"]
HEAD, BODY = response(body=TABLE)
CREATING = b'{"Table": {"TableName": "table", "TableStatus": "CREATING"}}'
HAS_HANDLERS = [wait_until, get_waiter]

on_waits = pytest.mark.parametrize("wait", WAITS)


@on_waits
def test_cancelling_ends_the_call_in_flight(peers, wait):
    event = threading.Event()
    peers.serve(lambda _: event.set())
    with pytest.raises(bwp.WaiterCancelledError):
        wait(make_client(), max_wait=100, cancel_event=event)
    assert len(peers.connections) == 1


@on_waits
def test_call_that_is_cut_off_leaves_the_last_good_answer(peers, clock, wait):
    def cut_off(exchange):
        exchange.send(HEAD + BODY[:9])
        clock.advance()

    peers.serve(lambda exchange: exchange.send(b"".join(response(body=CREATING))), cut_off)
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        wait(make_client(), max_wait=60, min_delay=0.01, max_delay=0.01)
    assert isinstance(caught.value, TimeoutError)
    assert caught.value.observed == "CREATING"
    assert caught.value.last_response["Table"]["TableStatus"] == "CREATING"


@on_waits
@pytest.mark.parametrize("body", [b"", b"{}", b"{]", b'{"Table": null}'])
@pytest.mark.usefixtures("virtual_time")
def test_answer_that_says_nothing_is_no_success(wait, body):
    sent = respond(client := make_client(), (200, body), (200, TABLE))
    assert wait(client, max_wait=60).attempts == len(sent) == 2


@on_waits
def test_error_of_other_code_that_a_parser_calls_passes(wait):
    session = botocore.session.get_session()
    factory = session.get_component("response_parser_factory")
    factory.set_parser_defaults(timestamp_parser=lambda _: 1 / 0)
    client, _ = answered_client((200, b'{"Table": {"CreationDateTime": 5}}'), session=session)
    with pytest.raises(ZeroDivisionError):
        wait(client, max_wait=60)


@on_waits
@pytest.mark.parametrize("phase", PHASES)
def test_error_of_a_users_handler_passes(wait, phase):
    client, _ = answered_client((200, TABLE))
    client.meta.events.register(f"{phase}.dynamodb", lambda **_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        wait(client, max_wait=60)


@pytest.mark.parametrize("wait", HAS_HANDLERS)
@pytest.mark.parametrize("phase", PHASES)
def test_handler_that_blocks_is_abandoned_in_a_thread(hang, wait, phase):
    client, _ = answered_client((200, TABLE))
    client.meta.events.register(f"{phase}.dynamodb", hang)
    with pytest.raises(bwp.WaiterTimeoutError):
        wait(client, max_wait=60, call_in_thread=True)


def test_wait_without_time_for_its_last_call_does_not_make_it(virtual_time):
    client, sent = answered_client((200, CREATING))
    with pytest.raises(bwp.WaiterTimeoutError) as caught:
        in_a_batch(client, max_wait=10, delay_pace=lambda _: 10, last_attempt="deadline")
    assert len(sent) == caught.value.attempts == 1


@pytest.mark.parametrize("way", HAS_HANDLERS)
def test_call_in_flight_is_bounded_after_uninstall(peers, clock, way):
    bwp.install()
    client = make_client()

    def uninstall(_):
        bwp.uninstall()
        clock.advance()

    peers.serve(uninstall)
    with pytest.raises(bwp.WaiterTimeoutError):
        way(client, max_wait=60)
    assert not hasattr(make_client(), "wait_until_table_exists")


@pytest.mark.parametrize(
    ("config", "is_bounded"), [({}, True), ({"Delay": 1, "MaxAttempts": 3}, False)]
)
def test_calls_of_a_chosen_schedule_take_as_long_as_they_take(s3, answers, config, is_bounded):
    """The others are cut off when the client itself would have given up."""
    budgets = []
    answers(s3, lambda: budgets.append(current_budget()) or {})
    s3.get_waiter("bucket_exists").wait(Bucket="b", WaiterConfig=config)
    assert [not each.is_endless for each in budgets] == [is_bounded]
