"""The rules of the traits that only the project's own data has."""

import copy
import json

import botocore
import check_traits
import pytest

from boto_waiters_plus.definitions.shipped import WRITTEN_FOR

pytestmark = pytest.mark.skipif(
    botocore.__version__ != WRITTEN_FOR, reason="the data were written for another botocore"
)

DOCUMENT = json.loads(check_traits.FILE.read_text(encoding="utf-8"))
EFS = ("shapes", "com.amazonaws.efs#CreateFileSystem", "traits")
BY = (*EFS, "boto.waiters#describedBy")
STACK = ("shapes", "com.amazonaws.cloudformation#UpdateStack", "traits")
EVENTS = (*STACK, "boto.waiters#describedBy")
EXISTS = ("boto.waiters#alreadyExists",)
NAMESPACE = ("shapes", "com.amazonaws.servicediscovery#NamespaceAlreadyExists", "traits", *EXISTS)
TURK = ("shapes", "com.amazonaws.mturk#RequestError", "traits", *EXISTS)
LIFE = ("shapes", "com.amazonaws.mturk#CreateHIT", "traits", "boto.waiters#tokenLifetime")
IN_PROGRESS = ("metadata", "boto.waiters#inProgress")


def test_shipped_data_have_no_problem(capsys):
    assert check_traits.main([]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("place", "value", "problem"),
    [
        ((*LIFE, "seconds"), "600", "boto.waiters#tokenLifetime.seconds: must be a Integer"),
        ((*LIFE, "evidence"), None, "boto.waiters#tokenLifetime.evidence: is missing"),
        ((*LIFE, "minutes"), 10, "boto.waiters#tokenLifetime.minutes: is not a member"),
        ((*BY, "operation"), "DescribeFiles", ".operation: efs has no operation DescribeFiles"),
        ((*BY, "parameters", "Token"), "input.X", "DescribeFileSystems has no such parameter"),
        (
            (*BY, "parameters", "CreationToken"),
            "input.Token",
            ".parameters.CreationToken: `input.T",
        ),
        ((*BY, "parameters", "CreationToken"), "input.", ".parameters.CreationToken: `input.`: "),
        ((*BY, "resources"), "Systems", ".resources: `Systems`: "),
        ((*BY, "token"), "Token", "describedBy.token: "),
        ((*EVENTS, "parameters"), {}, ".parameters.StackName: DescribeStackEvents needs it"),
        ((*EVENTS, "response"), "{StackId: Id}", "describedBy.response: "),
        ((*NAMESPACE, "token"), "Token", ".token: the error has no member Token"),
        ((*NAMESPACE, "token"), None, "it says nothing: madeUnder or token is missing"),
        ((*TURK, "madeUnder"), "mine", ".madeUnder: must be one of thisToken"),
        ((*TURK, "members"), {}, ".members: must not be empty"),
        ((*TURK, "members"), {"Code": "x"}, ".members.Code: the error has no member Code"),
        ((*EFS, "boto.waiters#life"), {}, "efs#CreateFileSystem: boto.waiters#life: there is no"),
        ((*EFS, "boto.waiters#inProgress"), {"evidence": "e"}, "has no error CreateFileSystem"),
        ((*IN_PROGRESS, "words"), ["Wait"], "words: 'Wait' is no lowercase text"),
        ((*IN_PROGRESS, "codes", "X"), {}, "inProgress.codes.X.evidence: is missing"),
        (("shapes", "com.amazonaws.none#A"), {"traits": {"boto.waiters#token": []}}, "no service"),
        (("shapes", "com.amazonaws.efs#A"), {"traits": {EXISTS[0]: {}}}, "efs has no error A"),
    ],
    ids=str,
)
def test_fault_is_found_with_its_place(place, value, problem, tmp_path, capsys):
    shapes = {name: each for name, each in DOCUMENT["shapes"].items() if name in place}
    document = copy.deepcopy({**DOCUMENT, "shapes": shapes})
    *outer, last = place
    part = document
    for name in outer:
        part = part[name]
    if value is None:
        del part[last]
    else:
        part[last] = value
    path = tmp_path / "idempotency.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert check_traits.main([str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("idempotency.json: ") and problem in line for line in lines), lines
