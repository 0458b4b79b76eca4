"""What thousands of waits share, so that each of them takes little memory."""

import gc
import weakref

import pytest

from boto_waiters_plus.many import Wait


def wait(client, **options):
    return Wait(client, "bucket_exists", {"Bucket": "b"}, max_wait=60, **options)


@pytest.mark.parametrize("options", [{}, {"min_delay": 3, "delay_pace": "fixed"}])
def test_waits_with_equal_options_share_them(s3, options):
    first, second = wait(s3, **options), wait(s3, **options)
    assert first.options is second.options
    assert first.policy is second.policy


def test_shared_options_keep_their_types(s3):
    assert repr(wait(s3, min_delay=3).policy.min_delay) == "3"
    assert repr(wait(s3, min_delay=3.0).policy.min_delay) == "3.0"
    assert wait(s3, success_count=1).policy.success_count == 1
    with pytest.raises(TypeError, match="success_count must be a whole number"):
        wait(s3, success_count=True)


@pytest.mark.usefixtures("collect_garbage")
@pytest.mark.parametrize("option", ["on_attempt", "delay_pace"])
def test_functions_of_the_caller_are_let_go(s3, option):
    def function(_):
        return 1

    made = wait(s3, **{option: function})
    gone = weakref.ref(function)
    del made, function
    gc.collect()
    assert gone() is None
