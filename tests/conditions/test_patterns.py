"""The patterns of `wait_for_match`."""

import dataclasses
import enum
import typing
from array import array
from collections import UserList, deque
from decimal import Decimal
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boto_waiters_plus import WaiterTimeoutError
from boto_waiters_plus.conditions import like, success, wait_for_match


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


@dataclasses.dataclass
class User:
    name: object
    confirmed: object = False
    loaded: object = dataclasses.field(default=0, compare=False)


@dataclasses.dataclass
class Admin(User):
    pass


class Slotted:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


ANN, CONFIRMED = User("a"), User("a", confirmed=True)


def matches(value, pattern):
    try:
        wait_for_match(lambda: value, pattern, max_wait=0)
    except WaiterTimeoutError:
        return False
    return True


plain = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False)


nested = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(("pattern", "matching", "others"), [
    (3, [3, 3.0, Decimal(3)], [4, "3", None, Decimal("3.1")]),
    (1, [1, 1.0, True], [False]),
    (True, [True], [1, 1.0, "x"]),
    (False, [False], [0, None, ""]),
    (0.1, [0.1, Decimal("0.1"), Decimal("0.10")], [0.2, "0.1", Decimal("0.2"), Decimal(0)]),
    ("ready", ["ready"], ["READY", b"ready", None]),
    (None, [None], [0, "", False]),
    (Colour.RED, [Colour.RED], [Colour.GREEN, 1]),
    ({1, 2}, [{2, 1}], [{1}, [1, 2]]),
    (..., [None, 0, object()], []),
    (int, [3, True], ["3", 3.5]),
    (int | str, [3, "3"], [3.5, None]),
    (typing.Optional[int], [3, None], ["3"]),  # noqa: UP045 - the other spelling of it
    (lambda value: value > 3, [4], [3]),
    (str.isdigit, ["42"], ["4x"]),
    ({}, [{}, {"any": 1}], [[], None]),
    ({"ready": True}, [{"ready": True}], [{"ready": 1}, {"ready": "yes"}]),
    ({"state": "ok"}, [{"state": "ok"}, {"state": "ok", "n": 1}], [{}, {"state": "no"}, "ok"]),
    ({"a": {"b": int}}, [{"a": {"b": 1}}], [{"a": {}}, {"a": {"b": "1"}}]),
    (("ok", int), [("ok", 1), ["ok", 1]], [("ok",), ("ok", 1, 2), ("ok", "1"), "ok", None]),
    ([], [[], (), deque(), range(0)], [[1], "", b"", bytearray(), {}, set(), None]),
    ((0, int), [range(2), deque([0, 5]), UserList([0, 1])], [range(3), b"\0\1", {0: 1}]),
    ((97,), [array("b", [97]), memoryview(b"a")], [b"a", bytearray(b"a"), {97}, iter([97])]),
    (("ok", ...), [("ok", None)], [("no", None)]),
    (ANN, [ANN, User("a", loaded=9), Admin("a")], [User("b"), CONFIRMED, "a"]),
    (User(str, ...), [User("a"), User("b", confirmed=True)], [User(3)]),
    (Admin("a"), [Admin("a")], [User("a")]),
    (like(User), [User("a")], [{}]),
    (like(User, confirmed=True), [CONFIRMED], [ANN, Slotted(confirmed=True)]),
    (like(confirmed=True), [CONFIRMED, Slotted(confirmed=True)], [ANN, 3]),
    (like(User, name=like(first="A")), [User(Slotted(first="A"))], [User("A")]),
])  # fmt: skip
def test_a_pattern_matches_what_it_describes(pattern, matching, others):
    assert [value for value in matching if not matches(value, pattern)] == []
    assert [value for value in others if matches(value, pattern)] == []


@pytest.mark.parametrize(("pattern", "text"), [
    ("ready", "'ready'"),
    (Colour.RED, "Colour.RED"),
    ((..., int), "(anything, int)"),
    (int | None, "int | None"),
    (str.isdecimal, "str.isdecimal"),
    (b"secret", "a particular bytes value"),
    ({"state": (int, "a")}, "{'state': (int, 'a')}"),
    (CONFIRMED, "User(name='a', confirmed=True)"),
    (like(confirmed=True), "object(confirmed=True)"),
    ({f"key{n}": "x" * 90 for n in range(90)}, "{'key0': 'xxx"),
])  # fmt: skip
def test_an_error_tells_the_pattern(pattern, text):
    with pytest.raises(WaiterTimeoutError) as caught:
        wait_for_match(str, pattern, max_wait=0)
    assert f"waited for {text}" in str(caught.value)
    assert len(str(caught.value)) < 400


@given(nested)
def test_everything_matches_itself(value):
    assert matches(value, value)


async def _awaited(value):
    return value


class Awaited:
    async def __call__(self, value):
        return value


class Awaitable:
    def __await__(self):
        yield


class Unchecked(typing.Protocol):
    x: int


class Fields(typing.TypedDict):
    a: int


UNCHECKABLE = [list[int], typing.Literal["a"], typing.Any, Unchecked, Fields, int | list[int]]
UNCHECKABLE += [typing.TypeVar("T")]


@pytest.mark.parametrize(("pattern", "words"), [
    *[(each, "cannot be checked at run time") for each in UNCHECKABLE],
    (typing.NewType("Id", int), "cannot be checked at run time: use int"),
    *[(each, "plain function") for each in (_awaited, Awaited(), partial(_awaited))],
    *[(each, "use wait_for_case") for each in (success("DONE"), {"a": (success("DONE"),)})],
])  # fmt: skip
def test_an_uncheckable_pattern_is_refused(pattern, words):
    with pytest.raises(TypeError, match=words):
        wait_for_match(pytest.fail, pattern, max_wait=0)
    with pytest.raises(TypeError, match="Unchecked"):
        like(Unchecked)
    with pytest.raises(TypeError, match="takes a type"):
        like(User("a"))


@pytest.mark.parametrize("predicate", [lambda _: _awaited(False), lambda _: Awaitable()])
def test_a_predicate_whose_result_is_awaitable_is_refused(predicate):
    with pytest.raises(TypeError, match="plain function"):
        wait_for_match(lambda: 0, predicate, max_wait=0)
