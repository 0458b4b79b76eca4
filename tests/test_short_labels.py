"""Labels that are cut to a column can be told apart."""

import pytest
from case_tables import tabled
from hypothesis import given
from hypothesis import strategies as st

from boto_waiters_plus.common.short_labels import ShortLabels, short_arns

BUCKETS = [f"s3 Bucket=my-company-logs-{number:03}" for number in range(200)]


@pytest.mark.parametrize(
    ("others", "label", "width", "shown"),
    [
        ([], "s3 Bucket=b", 11, "s3 Bucket=b"),
        (BUCKETS, BUCKETS[7], 40, "s3 Bucket=my-company-logs-007"),
        (BUCKETS, BUCKETS[7], 12, "…ny-logs-007"),
        # All end alike: the end gives way too.
        (["ecs c=web-1-prod", "ecs c=web-2-prod"], "ecs c=web-1-prod", 5, "…b-1…"),
        # They differ all over: the middle gives way.
        (["ec2 i-0123456789", "rds orders-12345"], "ec2 i-0123456789", 10, "ec2…456789"),
        (["ec2 i-0123456789"], "ec2 i-0123456789", 10, "ec2…456789"),
        (["ec2 i-0123456789"], "ec2 i-0123456789", 1, "…"),
        (["a", "ab"], "ab", 1, "…"),
        (["b-web-eu-west-1"], "a-web-eu-west-1", 8, "a-web-e…"),
    ],
)
def test_the_end_of_a_label_stays(others, label, width, shown):
    assert ShortLabels([*others, label]).fitted(label, width) == shown


@given(
    start=st.text("ab-", max_size=60),
    end=st.text("ab-", max_size=60),
    ids=st.sets(st.text("0123", min_size=1, max_size=6), min_size=2, max_size=30),
    width=st.integers(8, 80),
)
def test_labels_that_differ_in_one_place_stay_different(start, end, ids, width):
    labels = [f"{start}{each}{end}" for each in ids]
    short = ShortLabels(labels)
    shown = [short.fitted(label, width) for label in labels]
    assert len({*shown}) == len(labels)
    assert max(map(len, shown)) <= width


@given(labels=st.lists(st.text(), min_size=1), width=st.integers(1, 50))
def test_any_label_fits(labels, width):
    short = ShortLabels(labels)
    assert all(len(short.fitted(label, width)) <= width for label in labels)


@tabled("arns are cut to what tells them apart", "values", "short")
def test_arns_are_cut_to_what_tells_them_apart(values, short):
    assert short_arns(values) == short
