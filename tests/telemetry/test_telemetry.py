"""Spans, attempts and histograms of waits, as OpenTelemetry's own exporters get them."""

import boto3
import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import boto_waiters_plus as bwp
from boto_waiters_plus import telemetry
from boto_waiters_plus.conditions import ConditionWait, wait_for

BUCKET = "planted-bucket"
ABOUT = {"boto.wait.waiter": "BucketExists", "boto.wait.operation": "HeadBucket"}
ABOUT |= {"boto.wait.service": "s3", "boto.wait.ending": "success"}


@pytest.fixture
def exporter():
    return InMemorySpanExporter()


@pytest.fixture
def reader():
    return InMemoryMetricReader()


@pytest.fixture
def instrument(exporter, reader, virtual_time):
    """`instrument(**options)`: gives the provider of the tracers."""
    tracers, meters = TracerProvider(), MeterProvider([reader])
    tracers.add_span_processor(SimpleSpanProcessor(exporter))

    def start(**options):
        telemetry.instrument(tracer_provider=tracers, meter_provider=meters, **options)
        return tracers

    yield start
    telemetry.uninstrument()


@pytest.fixture
def bucket_exists(answers, error_answer):
    """Wait for a bucket whose HEAD requests are answered by these statuses."""

    def answer(status):
        return {} if status == 200 else error_answer(str(status), status=status)

    def wait(*statuses):
        client = boto3.client("s3")
        answers(client, *map(answer, statuses))
        options = {"max_wait": 60, "min_delay": 5, "max_delay": 5}
        bwp.wait_until(client, "bucket_exists", Bucket=BUCKET, **options)

    return wait


def points(reader):
    """The points of each histogram: attributes, count and sum."""
    [resource] = reader.get_metrics_data().resource_metrics
    metrics = {each.name: each.data.data_points for each in resource.scope_metrics[0].metrics}
    return {
        name: [(dict(each.attributes), each.count, each.sum) for each in found]
        for name, found in metrics.items()
    }


def test_a_wait_is_a_span_with_its_attempts(instrument, exporter, reader, bucket_exists):
    instrument()
    # A second one replaces the first.
    instrument()
    bucket_exists(404, 503, 200)
    (span,) = exporter.get_finished_spans()
    assert span.name == "wait BucketExists"
    counts = {"boto.wait.attempts": 3, "boto.wait.transient_errors": 1}
    assert dict(span.attributes) == {**ABOUT, **counts}
    first = {"boto.wait.attempt": 1, "error.type": "404", "boto.wait.next_delay": 5}
    second = {"boto.wait.attempt": 2, "error.type": "503", "boto.wait.next_delay": 5}
    attempts = [first, {**second, "boto.wait.transient": True}, {"boto.wait.attempt": 3}]
    assert [dict(event.attributes) for event in span.events] == attempts
    assert (span.end_time - span.start_time) / 1e9 == pytest.approx(10)
    assert [(e.timestamp - span.start_time) / 1e9 for e in span.events] == pytest.approx([0, 5, 10])
    assert points(reader) == {
        "boto.wait.duration": [(ABOUT, 1, pytest.approx(10))],
        "boto.wait.attempts": [(ABOUT, 1, 3)],
        "boto.wait.detection_delay.max": [(ABOUT, 1, pytest.approx(5))],
    }


@pytest.mark.parametrize(("statuses", "ending", "error"), [
    ([403], "failure", "WaiterFailedError"),
    ([404] * 20, "timeout", "WaiterTimeoutError"),
])  # fmt: skip
def test_an_end_without_success_is_an_error(
    statuses, ending, error, instrument, exporter, reader, bucket_exists
):
    instrument()
    with pytest.raises(bwp.WaiterError):
        bucket_exists(*statuses)
    (span,) = exporter.get_finished_spans()
    assert (span.attributes["boto.wait.ending"], span.attributes["error.type"]) == (ending, error)
    assert (span.status.is_ok, span.status.description) == (False, error)
    ((attributes, count, _),) = points(reader)["boto.wait.duration"]
    assert (attributes["boto.wait.ending"], attributes["error.type"], count) == (ending, error, 1)
    assert "boto.wait.detection_delay.max" not in points(reader)


@pytest.mark.parametrize("labels", [False, True])
def test_parameters_are_attributes_only_if_asked_for(
    labels, instrument, exporter, reader, bucket_exists
):
    instrument(labels=labels)
    with pytest.raises(bwp.WaiterFailedError):
        bucket_exists(404, 403)
    (span,) = exporter.get_finished_spans()
    assert (BUCKET in span.to_json()) == labels
    assert span.attributes.get("boto.wait.label") == (f"s3 Bucket={BUCKET}" if labels else None)
    assert BUCKET not in reader.get_metrics_data().to_json()


def test_a_wait_is_a_child_of_the_callers_span(instrument, exporter, bucket_exists):
    with instrument().get_tracer("caller").start_as_current_span("deploy") as deploy:
        bucket_exists(200)
    span = exporter.get_finished_spans()[0]
    assert span.parent.span_id == deploy.context.span_id


def test_each_wait_of_any_kind_has_its_span(instrument, exporter, answers):
    instrument()
    client = boto3.client("s3")
    answers(client, {})
    waits = [bwp.Wait(client, "bucket_exists", {"Bucket": f"b-{n}"}) for n in range(2)]
    bwp.wait_all([*waits, ConditionWait(lambda: True)], max_wait=60)
    wait_for(lambda: True, max_wait=1)
    spans = {span.name: span.attributes for span in exporter.get_finished_spans()}
    assert [span.name for span in exporter.get_finished_spans()].count("wait BucketExists") == 2
    assert spans["wait BucketExists"]["boto.wait.attempts"] == 1
    assert "boto.wait.service" not in spans["wait wait_for"]
    assert "wait condition" in spans


def test_uninstrument_ends_the_spans_alone(instrument, exporter, bucket_exists):
    seen = []
    bwp.install(on_event=seen.append)
    instrument()
    telemetry.uninstrument()
    bucket_exists(200)
    assert exporter.get_finished_spans() == ()
    assert [event.kind for event in seen] == ["start", "attempt", "success"]
    with pytest.raises(TypeError, match="labels"):
        instrument(labels="yes")
