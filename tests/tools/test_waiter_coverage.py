"""The page that compares the shipped waiters with those of other projects."""

import re

from waiter_coverage import main

from boto_waiters_plus.cli.service_lookup import client_name
from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_services


def test_page_counts_the_shipped_waiters(tmp_path):
    main([str(tmp_path / "coverage.md")])
    page = (tmp_path / "coverage.md").read_text(encoding="utf-8")
    found = {client_name(each): len(shipped_definitions(each)) for each in shipped_services()}
    found = {name: count for name, count in found.items() if count}
    total, number = sum(found.values()), len(found)
    assert f"| boto_waiters_plus, all | {number} | {total} |" in page
    by_service = re.findall(
        r"^\| ([\w-]+) \| (\d+) \|", page.partition("## By service")[2], re.MULTILINE
    )
    assert {name: int(count) for name, count in by_service} == found


def test_each_wait_without_a_waiter_has_a_reason(tmp_path):
    main([str(tmp_path / "coverage.md")])
    page = (tmp_path / "coverage.md").read_text(encoding="utf-8")
    [covered, missing] = re.findall(r"Terraform's .* \| \d+ \| (\d+) \| (\d+) \| yes \|", page)[0]
    reasons = re.findall(r"^\| Terraform \| .+ \| .+ \| (.+) \|$", page, re.MULTILINE)
    assert int(covered) > int(missing) >= len(reasons) > 0
