"""The page that compares the shipped waiters with those of other projects."""

import re

from waiter_coverage import main

from boto_waiters_plus.cli.service_lookup import client_name
from boto_waiters_plus.definitions.shipped import shipped_definitions, shipped_services


def test_each_wait_without_a_waiter_has_a_reason(tmp_path):
    main([str(tmp_path / "coverage.md")])
    page = (tmp_path / "coverage.md").read_text(encoding="utf-8")
    [covered, missing] = re.findall(r"Terraform's .* \| \d+ \| (\d+) \| (\d+) \| yes \|", page)[0]
    reasons = re.findall(r"^\| Terraform \| .+ \| .+ \| (.+) \|$", page, re.MULTILINE)
    assert int(covered) > int(missing) >= len(reasons) > 0


def test_page_lists_the_changed_waiters_of_botocore(tmp_path):
    main([str(tmp_path / "coverage.md")])
    page = (tmp_path / "coverage.md").read_text(encoding="utf-8")
    table = page.partition("are changed.")[2].partition("##")[0]
    listed = re.findall(r"^\| ([\w-]+) \| (\w+) \|.* \| .+\. \|$", table, re.MULTILINE)
    corrected = [
        (client_name(service_id), definition.name)
        for service_id in shipped_services()
        for definition in shipped_definitions(service_id)
        if "corrected" in definition.tags
    ]
    assert sorted(listed) == sorted(corrected)
