"""`boto-wait show`, diagrams, and the reference pages."""

import re
from pathlib import Path

import pytest

from boto_waiters_plus.cli import diagrams, main, peers, reference
from boto_waiters_plus.cli.services import confidence
from boto_waiters_plus.cli.wording import looks, verdicts
from boto_waiters_plus.definitions.shipped import shipped_definitions
from boto_waiters_plus.engine.model import (
    Acceptor,
    AcceptorState,
    OutputMatcher,
    PathComparator,
    PathMatcher,
    SuccessMatcher,
    WaiterDefinition,
)

PAGES = Path(__file__).resolve().parents[2] / "docs/reference"


def definition(*acceptors, **members):
    return WaiterDefinition(name="ThingReady", operation="GetThing", acceptors=acceptors, **members)


def on_output(path, expected="x", state=AcceptorState.SUCCESS):
    matcher = PathMatcher(path=path, expected=expected, comparator=PathComparator.STRING_EQUALS)
    return Acceptor(state=state, matcher=OutputMatcher(matcher))


def on_success(success, state):
    return Acceptor(state=state, matcher=SuccessMatcher(success=success))


@pytest.mark.parametrize("name", ["bucket-exists", "bucket_exists", "BucketExists"])
def test_a_waiter_is_shown_by_any_spelling_of_its_name(name, capsys):
    assert main(["show", "s3", name]) == 0
    out = capsys.readouterr().out
    assert out.startswith("BucketExists of s3, by HeadBucket\n")
    assert re.search(r"^method +client\.wait_until_bucket_exists\(max_wait=", out, re.MULTILINE)
    assert re.search(r"^confidence +from botocore$", out, re.MULTILINE)
    assert re.search(r"^source +data/s3\.json$", out, re.MULTILINE)


def test_acceptors_are_in_order_with_what_they_leave_implied_behind(capsys):
    assert main(["show", "s3", "bucket-exists"]) == 0
    _, rest = capsys.readouterr().out.split("Acceptors: the first that matches decides.\n")
    assert rest.splitlines()[:4] == [
        "  1  success  the call succeeds",
        "  2  retry    the call fails with NotFound",
        "  -  failure  any other error",
        "",
    ]


def test_documentation_and_the_path_of_the_reason_are_shown(capsys):
    assert main(["show", "athena", "calculation-execution-completed"]) == 0
    out = capsys.readouterr().out
    assert "Waits until a calculation of a Spark session has completed." in out
    assert "A failure quotes Status.StateChangeReason." in out


def test_the_schedule_is_shown_for_three_waits(capsys):
    assert main(["show", "s3", "bucket-exists"]) == 0
    lines = [re.split(r"  +", line.strip()) for line in capsys.readouterr().out.splitlines()]
    assert lines[-4] == ["MAX_WAIT", "SHORTEST", "MIDDLE", "LONGEST", "LOOKS BY MIDDLE DRAWS"]
    assert lines[-3][:2] == ["5 min", "150"]  # every 2 s, the last two looks in one
    assert [line[0] for line in lines[-3:]] == ["5 min", "10 min", "30 min"]
    assert lines[-1][-1].endswith("1800 s")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["athna", "session-idle"], r"no service 'athna'; did you mean 'athena'\?"),
        (["s3", "bucket-exist"], r"no s3 waiter 'bucket-exist'; did you mean 'bucket_exists'\?"),
        (["sts", "anything"], r"no sts waiter 'anything'"),
    ],
)
def test_a_typo_exits_with_2_and_offers_the_nearest_name(words, message, capsys):
    assert main(["show", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(f"boto-wait show: {message}\n", err)


@pytest.mark.parametrize(
    ("tags", "source", "words"),
    [
        (("curated", "run-on-moto"), "data/x.json", "run on moto"),
        (("curated", "enum-checked"), "data/x.json", "enum-checked"),
        (("curated", "model-only"), "data/x.json", "model only"),
        (("generated",), "data/x.json", "from botocore"),
        ((), "s3/2006-03-01/waiters-2.json", "from botocore"),
        ((), "mine.json", "not checked"),
    ],
)
def test_confidence_in_words(tags, source, words):
    assert confidence(definition(on_output("a"), tags=tags, source=source)) == words


def test_looks_follow_the_draws_and_end_just_inside_the_wait():
    waiter = definition(on_output("a"), min_delay=10, max_delay=20)
    assert looks(waiter, 60, lambda low, _: low) == [0, 10, 20, 30, 40, 59.75]
    assert looks(waiter, 60, lambda _, high: high) == [0, 10, 30, 59.75]
    assert looks(waiter, 5, lambda low, _: low) == [0, 4.75]


@pytest.mark.parametrize(
    ("acceptors", "implied"),
    [
        ([on_output("a")], ["any other error", "any other response"]),
        ([on_success(success=True, state=AcceptorState.SUCCESS)], ["any other error"]),
        ([on_success(success=False, state=AcceptorState.SUCCESS)], ["any other response"]),
    ],
)
def test_what_an_acceptor_takes_whole_is_not_implied(acceptors, implied):
    rows = verdicts(definition(*acceptors))
    assert [condition for number, _, condition in rows if number == "-"] == implied


def test_mermaid_diagram(capsys):
    assert main(["show", "s3", "bucket-exists", "--diagram", "mermaid"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "stateDiagram-v2",
        "    look: HeadBucket",
        "    pause: pause of 2 to 5 s",
        "    success: success",
        "    failure: failure",
        "    timeout: out of time",
        "    [*] --> look",
        "    look --> success: 1. the call succeeds",
        "    look --> pause: 2. the call fails with NotFound",
        "    look --> failure: any other error",
        "    pause --> look",
        "    pause --> timeout: max_wait is over",
        "    success --> [*]",
        "    failure --> [*]",
        "    timeout --> [*]",
    ]


def test_nothing_in_an_expression_is_read_as_mermaid():
    text = diagrams.mermaid(definition(on_output('a[?b==`1`]:"c";\n--> x %%{')))
    [label] = re.findall(r"look --> success: (.*)", text)
    assert set(label) <= set(" ._,'-#;") | {c for c in label if c.isalnum()}
    read = re.sub(r"#(\d+);", lambda match: chr(int(match[1])), label)
    assert read == "1. a[?b==`1`]:\"c\";\\n--> x %%{ is 'x'"


def test_dot_diagram(capsys):
    assert main(["show", "s3", "bucket-exists", "--diagram", "dot"]) == 0
    text = capsys.readouterr().out
    assert text.startswith('digraph "BucketExists" {\n')
    assert text.endswith("}\n")
    assert '    look -> pause [label="2. the call fails with NotFound"];' in text
    assert '    pause [label="pause of 2 to 5 s"];' in text


def test_quotes_and_backslashes_are_escaped_for_dot():
    text = diagrams.dot(definition(on_output('"a\\b"')))
    assert 'label="1. \\"a\\\\b\\" is \'x\'"' in text


@pytest.mark.skipif(not PAGES.is_dir(), reason="the pages are not in this distribution")
def test_generating_the_reference_pages_again_gives_no_difference():
    written = {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")}
    assert {name for name, text in reference.pages().items() if written.get(name) != text} == set()
    assert written.keys() == reference.pages().keys()


def test_pages_of_services_that_are_gone_are_removed(tmp_path, capsys):
    (tmp_path / "gone.md").write_text("")
    reference.main([str(tmp_path)])
    pages = reference.pages()
    assert {path.name for path in tmp_path.iterdir()} == pages.keys()
    assert capsys.readouterr().out == f"{len(pages)} pages\n"


def test_a_page_has_every_waiter_and_its_acceptors():
    page = reference.pages()["ecs.md"]
    for found in shipped_definitions("ecs"):
        assert f"\n## {found.name}\n" in page
        assert f"(#{found.name.lower()}) | {found.operation} |" in page
    # A code span with backticks of its own, and bars that would end the cell.
    assert "\n| 4 | success | ``length(services[?!(length(deployments) == `1` && " in page
    assert all(
        len(re.findall(r"(?<!\\)\|", line)) in (4, 5)
        for line in page.splitlines()
        if line.startswith("| ")
    )


def test_the_index_adds_up():
    index = reference.pages()["index.md"]
    rows = re.findall(
        r"^\| \[[\w-]+\]\([\w-]+\.md\)" + r" \| (\d+)" * 5 + r" \|$", index, re.MULTILINE
    )
    totals = [sum(map(int, column)) for column in zip(*rows, strict=True)]
    assert totals[0] == totals[1] + totals[2]
    by_source = {
        name: int(waiters)
        for name, waiters in re.findall(r"\| boto_waiters_plus, (\w+) \| \d+ \| (\d+) \|", index)
    }
    assert by_source == dict(zip(["all", "generated", "curated"], totals[:3], strict=True))
    for name, total in zip([peers.AIRFLOW, peers.ANSIBLE], totals[3:], strict=True):
        assert re.search(rf"\| {re.escape(name)} \| \d+ \| {total} \|", index)
