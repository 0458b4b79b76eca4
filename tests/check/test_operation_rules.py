"""Operations that may modify resources, and paginated members."""

from case_tables import tabled

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


@tabled("name", "traits", "expected")
def test_modifying_operation_is_a_danger(models, name, traits, expected):
    assert severity(renamed(models, name, **traits)) == expected


def test_event_names_the_operation(models):
    [event] = [e for e in check(renamed(models, "StartThing")) if e.severity == "DANGER"]
    assert event.id == "WaiterOperationNotReadOnly.ThingActive"
    assert event.message == (
        "Waiter `ThingActive`: every attempt calls StartThing, which may modify resources"
    )
