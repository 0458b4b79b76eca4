"""The reference pages of services."""

import re

from reference_pages import main, reference_pages
from waiter_coverage import breakable

from boto_waiters_plus.cli.service_lookup import client_name
from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_services


def test_pages_of_removed_services_are_deleted(tmp_path, capsys):
    (tmp_path / "gone.md").write_text("")
    main([str(tmp_path)])
    pages = reference_pages()
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == pages
    assert capsys.readouterr().out == f"{len(pages)} pages\n"


def test_page_has_every_waiter_and_its_acceptors():
    page = reference_pages()["ecs.md"]
    for definition in shipped_definitions("ecs"):
        assert f"\n## {definition.name}\n" in page
        assert f"(#{definition.name.lower()}) | {breakable(definition.operation)} |" in page
    # A code span that contains backticks, and bars that would end the cell.
    assert "\n| 4 | success | ``length(services[?!(length(deployments) == `1` && " in page
    assert all(
        len(re.findall(r"(?<!\\)\|", line)) in (4, 5)
        for line in page.splitlines()
        if line.startswith("| ")
    )


def test_a_narrow_screen_shows_the_table_of_waiters():
    """What cannot be broken is short: a longer run would cut the table off on the right."""
    rows = [
        line
        for page in reference_pages().values()
        for line in page.splitlines()
        if re.match(r"\| \[.*\]\(#", line)
    ]
    cells = (re.sub(r"\[(.*)\]\(.*?\)", r"\1", row) for row in rows)
    assert max(len(run) for row in cells for run in re.split(r"<wbr>|[ |]", row)) <= 16


def test_index_links_to_every_page():
    pages = reference_pages()
    rows = re.findall(
        r"^\| \[([\w-]+)\]\(([\w-]+)\.md\) \| (\d+) \|$", pages["index.md"], re.MULTILINE
    )
    assert {f"{service_id}.md" for _, service_id, _ in rows} == pages.keys() - {"index.md"}
    for name, service_id, count in rows:
        assert name == client_name(service_id)
        assert int(count) == len(shipped_definitions(service_id))
    assert len(rows) == sum(bool(shipped_definitions(each)) for each in shipped_services())
