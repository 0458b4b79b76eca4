"""Labels of waits name ARNs by what tells them apart."""

import boto3
from case_tables import tabled

from boto_waiters_plus import Wait


@tabled("arns are cut to what tells them apart", "values", "short")
def test_arns_are_cut_to_what_tells_them_apart(values, short):
    wait = Wait(boto3.client("ecs"), "tasks_running", {"tasks": values})
    assert wait.label == f"ecs tasks=[{', '.join(short)}]"
