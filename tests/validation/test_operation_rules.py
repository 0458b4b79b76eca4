"""Operations that may modify resources, and paginated members."""

import pytest

from boto_waiters_plus.validation import check


def renamed(models, name, **traits):
    model = models.thing()
    shapes = model["shapes"]
    operation = shapes.pop(models.OPERATION)
    operation["traits"].update({f"smithy.api#{trait}": value for trait, value in traits.items()})
    shapes[f"smithy.example#{name}"] = operation
    return model


def severity(model):
    found = [
        e.severity.value for e in check(model) if e.id.startswith("WaiterOperationNotReadOnly")
    ]
    return found[0] if found else None


@pytest.mark.parametrize(
    ("name", "traits", "expected"),
    [
        ("GetThing", {}, None),
        ("DescribeThings", {"http": {"method": "POST"}}, None),
        ("BatchGetThings", {}, None),
        ("PollThing", {}, None),
        ("PollThing", {"http": {"method": "GET"}}, None),
        ("PollThing", {"http": {"method": "POST"}}, "NOTE"),
        ("StartThing", {}, "DANGER"),
        ("BatchDeleteThings", {}, "DANGER"),
        ("PollThing", {"http": {"method": "DELETE"}}, "DANGER"),
        ("GetOrCreateThing", {"http": {"method": "PUT"}}, None),
        ("StartThing", {"readonly": {}}, None),
        ("Startup", {}, None),
    ],
)
def test_modifying_operation_is_a_danger(models, name, traits, expected):
    assert severity(renamed(models, name, **traits)) == expected


def test_event_names_the_operation(models):
    [event] = [e for e in check(renamed(models, "StartThing")) if e.severity == "DANGER"]
    assert event.id == "WaiterOperationNotReadOnly.ThingActive"
    assert event.message == (
        "Waiter `ThingActive`: every attempt calls StartThing, which may modify resources"
    )
