"""The pages of services that the build of the site writes."""

import pytest
import reference_pages

from boto_waiters_plus.service.catalog import client_name, effects_of


@pytest.mark.parametrize("service_id", ["cloudwatch-logs", "emr", "s3"])
def test_effects_stand_below_the_waiters_of_a_service(service_id, monkeypatch, tmp_path):
    monkeypatch.setattr(reference_pages, "shipped_services", lambda: [service_id])
    monkeypatch.setattr(
        reference_pages, "reference_pages", reference_pages.reference_pages.__wrapped__
    )
    reference_pages.main([str(tmp_path)])
    text = (tmp_path / f"{service_id}.md").read_text(encoding="utf-8")
    _, effects = text.split("\n## Effects\n")
    assert "\n## " not in effects
    rows = [line.split(" | ")[:4] for line in effects.splitlines() if line.startswith("| `")]
    assert rows == [
        [f"| `{each.after}`", f"`{each.name}`", row[2], each.basis]
        for each, row in zip(effects_of(client_name(service_id)), rows, strict=True)
    ]
    polled = [row[2].replace("<wbr>", "") for row in rows]
    assert polled == [each.operation for each in effects_of(client_name(service_id))]
