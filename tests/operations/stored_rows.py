"""How the tests of a database make rows."""

DEFINITIONS = {"d1": '{"name":"one"}'}


def wait_row(number, **values):
    """A row as `NewRows` makes it."""
    row = dict.fromkeys(("ended", "region", "profile", "exclusive_key", "request", "state_seen"))
    row |= dict.fromkeys(("next_attempt", "lease", "worker", "last_error", "response", "error"))
    row["owes"] = None
    row |= {"id": f"{number:032x}", "state": "open", "label": "a label", "service": "s3"}
    row |= {"waiter": "BucketExists", "digest": "d1", "kind": "k1", "endpoint": "http://here"}
    row |= {"client_settings": "{}", "parameters": "{}", "policy": "{}", "machine": "{}"}
    row |= {"include_response": False, "attempts": 0, "elapsed": 0.0}
    return {**row, "created": 0.0, "machine_at": 0.0, "deadline": 60.0, **values}


def ids(*numbers):
    return [wait_row(number)["id"] for number in numbers]


def get(database, number):
    (row,) = database.get(ids(number))
    return row


def driver(database, number):
    """The lease and the worker of a wait."""
    row = get(database, number)
    return row["lease"], row["worker"]
