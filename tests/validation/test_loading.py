"""What can be checked: models, definitions over botocore's services, files."""

import json
from dataclasses import replace

import pytest
from botocore.exceptions import UnknownServiceError
from botocore.loaders import Loader
from botocore.model import ServiceModel

from boto_waiters_plus import load_definitions
from boto_waiters_plus.validation import Severity, check
from boto_waiters_plus.validation.botocore_shapes import service_by_namespace
from boto_waiters_plus.validation.documents import Document

WAITABLE = "smithy.waiters#waitable"
CLUSTER = {"ClusterActive": {"acceptors": [
    {"state": "success", "matcher": {"output": {
        "path": "cluster.status", "expected": "ACTIVE", "comparator": "stringEquals"}}},
    {"state": "failure", "matcher": {"output": {
        "path": "cluster.status", "expected": "FAILED", "comparator": "stringEquals"}}},
    {"state": "retry", "matcher": {"errorType": "ResourceNotFoundException"}},
]}}  # fmt: skip


def applied(shape, waitable=CLUSTER, **more):
    return {"smithy": "2.0", "shapes": {shape: {"type": "apply", "traits": {WAITABLE: waitable}}},
            **more}  # fmt: skip


def loud(events):
    return [(event.severity.value, event.id) for event in events if event.severity > "NOTE"]


def changed(find, replacement):
    return json.loads(json.dumps(CLUSTER).replace(find, replacement))


def test_applied_waiters_are_checked_against_botocore_by_namespace():
    assert loud(check(applied("com.amazonaws.eks#DescribeCluster"))) == []
    broken = applied(
        "com.amazonaws.eks#DescribeCluster", changed("cluster.status", "cluster.state")
    )
    [first, *_] = check(broken)
    assert (first.severity, first.shape) == ("DANGER", "com.amazonaws.eks#DescribeCluster")
    assert "Object field 'state' does not exist in object with properties [name, arn," in (
        first.message
    )


@pytest.mark.parametrize("as_model", [False, True])
def test_the_service_may_be_given(as_model):
    service = "eks"
    if as_model:
        description = Loader().load_service_model("eks", "service-2")
        service = ServiceModel(description, service_name="eks")
    document = applied("my.own#DescribeCluster", changed("ACTIVE", "ACTVE"))
    ids = [event_id for _, event_id in loud(check(document, service))]
    assert ids == ["WaiterUnknownEnumValue.ClusterActive.0", "WaiterNeverSucceeds.ClusterActive"]


def test_a_service_that_botocore_lacks_is_an_error_of_the_caller():
    with pytest.raises(UnknownServiceError):
        check(applied("my.own#Get"), "nosuch")


@pytest.mark.parametrize(
    ("namespace", "name"),
    [
        ("eks", "eks"),
        ("cloudwatchlogs", "logs"),
        ("elasticloadbalancingv2", "elbv2"),
        ("sfn", "stepfunctions"),
    ],
)  # fmt: skip
def test_a_service_is_found_by_its_id(namespace, name):
    assert service_by_namespace(f"com.amazonaws.{namespace}").service.service_name == name


def test_the_code_of_an_error_counts_over_botocore():
    """IAM's shape NoSuchEntityException has the code NoSuchEntity."""
    exists = {"RoleExists": {"acceptors": [
        {"state": "success", "matcher": {"success": True}},
        {"state": "retry", "matcher": {"errorType": "NoSuchEntity"}},
        {"state": "retry", "matcher": {"errorType": "NoSuchEntityException"}},
        {"state": "retry", "matcher": {"errorType": "NoSuchEntityy"}},
    ]}}  # fmt: skip
    [event] = [
        e for e in check(applied("com.amazonaws.iam#GetRole", exists)) if e.severity > "NOTE"
    ]
    assert event.id == "WaitableTraitInvalidErrorType.RoleExists.3"
    assert event.message.endswith("Did you mean 'NoSuchEntity'?")


def test_an_error_of_another_operation_is_named_as_that():
    waitable = changed("ResourceNotFoundException", "ResourceLimitExceededException")
    [event] = [
        event
        for event in check(applied("com.amazonaws.eks#DescribeCluster", waitable))
        if event.severity > "NOTE"
    ]
    assert event.message.endswith("Another operation of the service has it")


def test_a_path_over_botocore_s_pages_is_noted():
    waitable = changed("cluster.status", "clusters[0]")
    ids = [event.id for event in check(applied("com.amazonaws.eks#ListClusters", waitable))]
    assert "WaiterPaginatedPath.ClusterActive.0" in ids


@pytest.mark.parametrize(
    ("shape", "severity", "text"),
    [
        ("com.amazonaws.eks#DescribeClusterz", "WARNING", "Did you mean DescribeCluster?"),
        ("com.amazonaws.eks#FrobnicateEverything", "NOTE", "its waiters are passed over"),
        ("com.amazonaws.nosuch#Get", "NOTE", "botocore has no service with the id nosuch"),
    ],
)
def test_an_operation_of_another_botocore_is_passed_over(shape, severity, text):
    [event] = check(applied(shape))
    assert (event.severity, event.id, event.shape) == (severity, "WaiterUnknownOperation", shape)
    assert event.message.endswith(text)


def test_a_trait_on_a_shape_that_nobody_knows_is_an_error():
    [event] = check(applied("smithy.example#Nothing"))
    assert (event.severity, event.id) == ("ERROR", "Model")
    assert event.message == "Trait applied to unknown shape `smithy.example#Nothing`"


def test_an_event_stream_of_botocore_is_no_target():
    [event] = check(applied("com.amazonaws.kinesis#SubscribeToShard"))
    assert (event.severity, event.id) == ("ERROR", "TraitTarget")


def test_suppressions_hold_over_botocore():
    waitable = changed("ResourceNotFoundException", "Nope")
    document = applied("com.amazonaws.eks#DescribeCluster", waitable)
    document["shapes"]["com.amazonaws.eks#DescribeCluster"]["traits"]["smithy.api#suppress"] = [
        "WaitableTraitInvalidErrorType"
    ]
    assert [e.id for e in check(document) if e.severity == "SUPPRESSED"] == [
        "WaitableTraitInvalidErrorType.ClusterActive.2"
    ]


WAITERS_2 = {"version": 2, "waiters": {"TaskDone": {
    "delay": 5, "maxAttempts": 3, "operation": "DescribeTasks", "acceptors": [
        {"matcher": "pathAll", "argument": "tasks[].lastStatus", "state": "success",
         "expected": "STOPPED"},
        {"matcher": "path", "argument": "length(tasks)", "state": "retry", "expected": 0},
        {"matcher": "path", "argument": "tasks[0].nope", "state": "failure", "expected": "x"},
        {"matcher": "status", "expected": 500, "state": "retry"},
    ]}}}  # fmt: skip


def test_waiters_2_are_checked_against_the_service_given():
    events = check(WAITERS_2, "ecs")
    assert [event.shape for event in events] == ["com.amazonaws.ecs#DescribeTasks"] * len(events)
    ids = [event.id for event in events]
    assert "WaitableTraitJmespathProblem.JmespathEventDanger.TaskDone.2" in ids
    assert "WaiterStatusMatcher.TaskDone.3" in ids


def test_waiters_2_from_a_file_know_service_and_place_by_their_path(tmp_path):
    file = tmp_path / "ecs" / "2014-11-13" / "waiters-2.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(WAITERS_2, indent=1))
    [event] = [e for e in check(file) if ".JmespathEventDanger." in e.id]
    lines = file.read_text().splitlines()
    assert event.source == str(file)
    assert lines[event.line - 1][event.column - 1 :] == "{"
    assert '"argument": "tasks[0].nope"' in lines[event.line + 1]


def test_without_a_service_waiters_2_cannot_be_checked():
    [event] = check(WAITERS_2)
    assert (event.severity, event.id, event.shape) == ("ERROR", "Model", None)
    assert "nothing tells which service it is for" in event.message


@pytest.mark.parametrize("name", ["describeTasks", "describe_tasks"])
def test_an_operation_of_waiters_2_may_be_named_as_its_method(name):
    body = {**WAITERS_2["waiters"]["TaskDone"], "operation": name}
    events = check({"waiters": {"TaskDone": body}}, "ecs")
    assert {event.shape for event in events} == {"com.amazonaws.ecs#DescribeTasks"}


def test_slips_of_waiters_2_that_are_loaded_are_reported(tmp_path):
    body = WAITERS_2["waiters"]["TaskDone"]
    success, *_ = body["acceptors"]
    slip = {"matcher": "error", "expected": "ServerException", "state": "error"}
    template = {name: value for name, value in body.items() if name != "acceptors"}
    waiters = {"TaskDone": {**body, "acceptors": [success, slip]}, "Template": template}
    file = tmp_path / "waiters.json"
    file.write_text(json.dumps({"waiters": waiters}, indent=1))
    found = {event.id: event for event in check(file, "ecs")}
    state, acceptors = (
        found["WaiterUnknownState.TaskDone.1"],
        found["WaiterWithoutAcceptors.Template"],
    )
    assert (state.severity, acceptors.severity) == ("DANGER", "WARNING")
    lines = file.read_text().splitlines()
    assert lines[acceptors.line - 1].strip() == '"Template": {'
    assert '"error"' in lines[state.line]


def test_definitions_can_be_checked():
    definitions = load_definitions(
        applied("com.amazonaws.eks#DescribeCluster", changed("ACTIVE", "A"))
    )
    ids = [event_id for _, event_id in loud(check(definitions))]
    assert ids == ["WaiterUnknownEnumValue.ClusterActive.0", "WaiterNeverSucceeds.ClusterActive"]
    assert loud(check(definitions[0], "eks")) == loud(check(definitions))


def test_names_are_unique_among_the_operations_of_a_botocore_service():
    document = applied("com.amazonaws.eks#DescribeCluster")
    twin = {"clusterACTIVE": {"acceptors": [{"state": "success", "matcher": {"success": True}}]}}
    document["shapes"]["com.amazonaws.eks#ListClusters"] = {
        "type": "apply",
        "traits": {WAITABLE: {"ClusterACTIVE": twin["clusterACTIVE"]}},
    }
    events = [event for event in check(document) if event.id == "UniqueWaiterNames"]
    assert [event.shape.partition("#")[2] for event in events] == [
        "DescribeCluster",
        "ListClusters",
    ]
    assert "`com.amazonaws.eks#eks`: [com.amazonaws.eks#ListClusters]" in events[0].message


def test_documents_that_apply_to_a_model_are_checked_with_it(models):
    model = models.thing()
    waiters = model["shapes"][models.OPERATION]["traits"].pop(WAITABLE)
    separate = applied(models.OPERATION, waiters)
    assert models.found([model, separate]) == []
    waiters["ThingActive"]["acceptors"].append(models.error("Nope"))
    assert models.found([separate, model]) == [
        ("WARNING", "WaitableTraitInvalidErrorType.ThingActive.2")
    ]


def test_two_different_traits_on_an_operation_are_an_error(models):
    model = models.thing()
    same = applied(models.OPERATION, model["shapes"][models.OPERATION]["traits"][WAITABLE])
    assert models.found([model, same]) == []
    other = applied(models.OPERATION, {"Other": {"acceptors": [models.ACTIVE, models.FAILED]}})
    assert models.found([model, other]) == [("ERROR", "Model")]


def test_a_shape_defined_twice_differently_is_an_error(models):
    other = models.thing()
    other["shapes"]["smithy.example#Part"]["members"] = {}
    assert models.found([models.thing(), models.thing()]) == []
    assert ("ERROR", "Model") in models.found([models.thing(), other])


def test_overlays_of_one_service_do_not_conflict():
    one, other = applied("com.amazonaws.eks#DescribeCluster"), changed("ACTIVE", "CREATING")
    assert loud(check([one, applied("com.amazonaws.eks#DescribeCluster", other)])) == []


@pytest.mark.parametrize(
    ("text", "problem", "place"),
    [
        ('{"smithy": "2.0",\n  oops}', "Not JSON: Expecting property name", (2, 3)),
        ('{"smithy": "2.0", "smithy": "2.0"}', "Member `smithy` occurs twice", (None, None)),
        ('{"smithy": "9"}', "Unknown version of Smithy", (1, 2)),
        ("[" * 100_000, "Nested too deeply", (None, None)),
        ("{}", "neither Smithy JSON AST", (1, 1)),
        ("[]", "must be a JSON object", (1, 1)),
        ('{"waiters": {"A": {"operation": "X", "delay": 0}}}', "delay must be", (1, 14)),
    ],
)
def test_a_file_that_cannot_be_loaded_is_an_error_with_its_place(tmp_path, text, problem, place):
    file = tmp_path / "broken.json"
    file.write_text(text)
    [event] = check(file)
    assert (event.severity, event.id, event.source) == (Severity.ERROR, "Model", str(file))
    assert problem in event.message
    assert (event.line, event.column) == place


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    [event] = check(tmp_path / "nothing.json")
    assert "Cannot be read: No such file" in event.message


def test_a_file_that_is_no_text_is_an_error(tmp_path):
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe")
    [event] = check(tmp_path / "binary.json")
    assert event.message == "Not UTF-8 text"


def test_events_tell_where_in_the_file_the_acceptor_is(tmp_path, models):
    file = tmp_path / "model.json"
    acceptors = (models.ACTIVE, models.FAILED, models.error("Nope"))
    file.write_text(json.dumps(models.thing(*acceptors, minDelay=9, maxDelay=3), indent=2))
    lines = file.read_text().splitlines()
    delay, error = [event for event in check(file) if event.severity > "NOTE"]
    assert lines[delay.line - 1][delay.column - 1 :] == '"ThingActive": {'
    assert lines[error.line - 1][error.column - 1 :] == "{"
    assert '"errorType": "Nope"' in lines[error.line + 2]


def test_a_folder_is_searched_for_files_with_waiters(tmp_path, models):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.json").write_text(json.dumps(models.thing(models.FAILED)))
    (tmp_path / "other.json").write_text('{"no": "waiters"}')
    [event] = [event for event in check(tmp_path) if event.severity == "ERROR"]
    assert event.source == str(tmp_path / "deep" / "a.json")


def test_a_folder_without_waiters_is_a_warning(tmp_path):
    (tmp_path / "other.json").write_text('{"no": "waiters"}')
    [event] = check(tmp_path)
    assert (event.severity, event.id) == ("WARNING", "WaiterNoDefinitions")
    assert event.source == str(tmp_path)


def test_places_are_found_in_any_layout():
    text = '{"a": [1, {"b\\"}": [[], {}, "x,]"], "c": {}}, null],\n"d": true}'
    document = Document(json.loads(text), "f.json", text)
    beginnings = {
        ("a",): '"a"',
        ("a", 1): '{"b',
        ("a", 1, 'b"}', 2): '"x,]"',
        ("a", 1, "c", "nothing", 4): '"c"',
        ("a", 2): "null",
        ("d",): '"d"',
    }
    found = {path: document.locate(path) for path in beginnings}
    lines = text.split("\n")
    for path, beginning in beginnings.items():
        assert lines[found[path].line - 1][found[path].column - 1 :].startswith(beginning)
    assert Document(json.loads(text)).locate(("a",)) is None


def test_maps_of_botocore_are_known():
    waitable = changed("cluster.status", "cluster.tags.colour")
    events = check(applied("com.amazonaws.eks#DescribeCluster", waitable))
    event = next(event for event in events if "'colour'" in event.message)
    assert "in object with properties [aa1, aa0]" in event.message


def test_traits_may_be_applied_to_members_and_suppressions_to_operations(models):
    model = models.thing(models.ACTIVE)
    model["shapes"][models.OPERATION]["traits"]["smithy.api#suppress"] = ["Something"]
    more = {
        "smithy": "2.0",
        "shapes": {
            "smithy.example#Part$weight": {"type": "apply", "traits": {"smithy.api#required": {}}},
        },
    }
    assert models.found([model, more]) == [
        ("WARNING", "WaiterUnhandledState.Failed.ThingActive"),
    ]
    more["shapes"] = {
        models.OPERATION: {
            "type": "apply",
            "traits": {"smithy.api#suppress": ["WaiterUnhandledState"]},
        }
    }
    assert models.found([model, more]) == []


def test_other_traits_may_be_applied_to_shapes_of_botocore():
    document = applied("com.amazonaws.eks#DescribeCluster")
    document["shapes"]["com.amazonaws.eks#Cluster"] = {
        "type": "apply",
        "traits": {"smithy.api#documentation": "!"},
    }
    assert loud(check(document)) == []


def test_a_definition_of_an_unknown_service_or_operation_is_reported():
    [known] = load_definitions(applied("com.amazonaws.eks#DescribeCluster"))
    [event] = check(replace(known, service="nosuch"))
    assert (event.severity, event.id) == ("ERROR", "Model")
    assert "botocore has no service 'nosuch'" in event.message
    [event] = check(replace(known, operation="FrobnicateEverything"))
    assert (event.severity, event.id) == ("NOTE", "WaiterUnknownOperation")
