"""Methods that a tracer or a retry library has wrapped: the wrapper is called at each attempt."""

import functools

import boto3
import pytest
from botocore.exceptions import ReadTimeoutError
from wrappers import PROXIES, WRAPPERS, Wrapper, by_wraps

import boto_waiters_plus as bwp
from boto_waiters_plus.idempotency import call_once as blocking_call_once

LOST = ReadTimeoutError(endpoint_url="https://ec2")


@pytest.fixture(params=WRAPPERS.values(), ids=WRAPPERS)
def wrap(request):
    """`wrap(method, calls)`: a wrapper that notes its calls."""
    return request.param


def test_each_attempt_calls_the_wrapper(call_once, ec2, answers, wrap, image, running):
    service, calls = answers(ec2, LOST, running), []
    made = call_once(wrap(ec2.run_instances, calls), max_wait=60, **image)
    assert (made.attempts, len(calls)) == (2, 2)
    assert service.operations == ["RunInstances"] * 2


def test_what_was_handed_over_is_called(ec2, answers, wrap, image, running):
    answers(ec2, running)
    method, on_client, handed_over = ec2.run_instances, [], []
    ec2.run_instances = wrap(method, on_client)
    blocking_call_once(wrap(method, handed_over), max_wait=60, **image)
    blocking_call_once(method, max_wait=60, **image)
    assert (len(on_client), len(handed_over)) == (0, 1)


def test_begin_calls_and_polls_by_wrappers(ec2, answers, wrap, image, running, polled):
    answers(ec2, running, polled("pending"), polled("running"))
    calls, polls = [], []
    ec2.run_instances = wrap(ec2.run_instances, calls)
    ec2.describe_instances = wrap(ec2.describe_instances, polls)
    operation = bwp.begin(ec2.run_instances, max_wait=600, **image)
    assert operation.result(60).attempts == 2
    assert (len(calls), len(polls)) == (1, 2)
    assert operation.effect == bwp.effect_of(ec2.run_instances)


@pytest.mark.parametrize("marks", [functools.wraps, None])
def test_a_patched_class_is_called_by_its_wrapper(ec2, answers, marks, image, running):
    answers(ec2, LOST, running)
    kind, calls = type(ec2), []
    original = kind.run_instances

    def wrapper(self, **keywords):
        calls.append(self)
        return original(self, **keywords)

    wrapper.__wrapped__ = original
    kind.run_instances = wrapper if marks is None else marks(original)(wrapper)
    blocking_call_once(ec2.run_instances, max_wait=60, **image)
    assert calls == [ec2, ec2]


def test_a_method_of_a_proxy_is_called(ec2, answers, image, running):
    answers(ec2, running)

    class Traced(Wrapper):
        def run_instances(self, **keywords):
            self._calls.append(self)
            return self.__wrapped__.run_instances(**keywords)

    traced = Traced(ec2, [])
    blocking_call_once(traced.run_instances, max_wait=60, **image)
    assert traced._calls == [traced]
    calls = []
    proxy = PROXIES["wrapt"](ec2, calls)
    blocking_call_once(proxy.run_instances, max_wait=60, **image)
    assert len(calls) == 1


def circle(_):
    one, other = Wrapper(None, []), Wrapper(None, [])
    one.__wrapped__, other.__wrapped__ = other, one
    return one


REFUSED = {
    "a circle": circle,
    "of no client": lambda _: by_wraps(print, []),
    "a partial": lambda method: functools.partial(method, MinCount=1),
    "around a partial": lambda method: Wrapper(functools.partial(method, MinCount=1), []),
    "a partial with a mark": lambda method: functools.update_wrapper(
        functools.partial(method, MinCount=1), method
    ),
}


@pytest.mark.parametrize("make", REFUSED.values(), ids=REFUSED)
def test_what_wraps_no_method_is_refused(make, call_once):
    method = make(boto3.client("ec2").run_instances)
    for function in (call_once, bwp.begin):
        with pytest.raises(TypeError, match="takes a method of a client"):
            function(method, max_wait=60)
    with pytest.raises(TypeError, match="takes a method of a client"):
        bwp.effect_of(method)
