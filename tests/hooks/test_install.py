"""`install` and `uninstall`: reached sessions, repeated calls, threads, and what is left behind."""

import gc
import json
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import boto3
import botocore
import botocore.session
import botocore.waiter
import pytest
from botocore.exceptions import ProfileNotFound
from botocore.hooks import HierarchicalEmitter
from botocore.loaders import Loader

import boto_waiters_plus as bwp

STOCK_WAIT = botocore.waiter.Waiter.__dict__["wait"]
STOCK_CREATE = botocore.session.Session.__dict__["create_client"]


def initializers():
    return list(botocore._INITIALIZERS)


def waits(client):
    """Whether a client has our methods."""
    return hasattr(client, "wait_until_stream_exists")


# --- which sessions are reached -----------------------------------------------------------------


def test_session_made_after_install_is_reached():
    bwp.install()
    assert waits(boto3.Session().client("kinesis"))
    assert waits(botocore.session.get_session().create_client("kinesis"))
    assert waits(boto3.client("kinesis"))
    assert waits(boto3.resource("dynamodb").meta.client) is False  # it has no such waiter
    assert hasattr(boto3.resource("dynamodb").meta.client, "wait_until_table_exists")


def test_session_made_before_install_is_reached():
    of_boto3, of_botocore = boto3.Session(), botocore.session.get_session()
    bwp.install()
    assert waits(of_boto3.client("kinesis"))
    assert waits(of_botocore.create_client("kinesis"))


def test_default_session_made_before_install_is_reached():
    boto3.client("kinesis")
    assert boto3.DEFAULT_SESSION is not None
    bwp.install()
    assert waits(boto3.client("kinesis"))


def test_session_used_before_install_is_reached():
    session = boto3.Session()
    assert not waits(session.client("kinesis"))
    bwp.install()
    assert waits(session.client("kinesis"))


@pytest.mark.parametrize("when", ["before", "after"])
def test_subclass_of_a_session_is_reached(when):
    class Own(botocore.session.Session):
        def create_client(self, *args, **keywords):
            keywords.setdefault("region_name", "eu-west-1")
            return super().create_client(*args, **keywords)

    session = Own() if when == "before" else None
    bwp.install()
    client = (session or Own()).create_client("kinesis")
    assert waits(client)
    assert client.meta.region_name == "eu-west-1"


def test_session_with_an_event_emitter_of_its_own_is_reached():
    bwp.install()
    session = botocore.session.Session(event_hooks=HierarchicalEmitter())
    assert waits(session.create_client("kinesis"))


def test_session_without_botocores_handlers_is_reached():
    bwp.install()
    session = botocore.session.Session(include_builtin_handlers=False)
    assert waits(session.create_client("kinesis"))


def test_every_waiter_of_the_service_is_a_method():
    bwp.install()
    client = boto3.client("kinesis")
    for name in client.waiter_names:
        assert callable(getattr(client, f"wait_until_{name}"))


# --- the session's own settings stay its own ----------------------------------------------------


@pytest.fixture
def config(tmp_path, monkeypatch):
    """A config file with one profile."""
    path = tmp_path / "config"
    path.write_text("[profile good]\nregion = eu-west-3\n")
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(path))
    return path


def test_profile_given_to_a_session_wins_over_a_missing_one_of_the_environment(config, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "missing")
    assert boto3.Session(profile_name="good").client("kinesis").meta.region_name == "eu-west-3"
    bwp.install()
    assert boto3.Session(profile_name="good").client("kinesis").meta.region_name == "eu-west-3"


def test_session_with_a_missing_profile_fails_where_stock_fails(config, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "missing")
    bwp.install()
    session = botocore.session.get_session()  # as in stock: no error yet
    with pytest.raises(ProfileNotFound):
        session.create_client("kinesis")


def test_config_file_set_after_a_session_was_made_is_read(config, tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.write_text("[default]\nregion = ap-south-1\n")
    for prepare in (lambda: None, bwp.install):
        prepare()
        session = botocore.session.get_session()
        session.set_config_variable("config_file", str(other))
        assert session.create_client("kinesis").meta.region_name == "ap-south-1"


def test_data_path_of_the_sessions_profile_is_searched(config, tmp_path, definition):
    models = tmp_path / "models" / "kinesis" / "2013-12-02"
    models.mkdir(parents=True)
    text = json.dumps(definition("StreamOfMine"))
    (models / "smithy-waiters-1.json").write_text(text)
    config.write_text(f"[profile good]\nregion = eu-west-3\ndata_path = {tmp_path / 'models'}\n")
    bwp.install()
    client = boto3.Session(profile_name="good").client("kinesis")
    assert hasattr(client, "wait_until_stream_of_mine")


def test_loader_put_into_a_session_later_is_the_one_that_is_used(tmp_path, definition):
    models = tmp_path / "kinesis" / "2013-12-02"
    models.mkdir(parents=True)
    (models / "smithy-waiters-1.json").write_text(json.dumps(definition("StreamOfMine")))
    bwp.install()
    session = botocore.session.get_session()
    session.register_component("data_loader", Loader(extra_search_paths=[str(tmp_path)]))
    assert hasattr(session.create_client("kinesis"), "wait_until_stream_of_mine")


def test_sessions_and_clients_are_not_kept_alive(monkeypatch):
    bwp.install()
    session = botocore.session.get_session()
    client = session.create_client("kinesis")
    client.wait_until_stream_exists  # noqa: B018 - builds it
    gone = [weakref.ref(session), weakref.ref(client), weakref.ref(type(client))]
    del session, client
    gc.collect()
    assert [ref() for ref in gone] == [None, None, None]


# --- again, and back ----------------------------------------------------------------------------


def test_installing_twice_is_installing_once(answers, active):
    before = initializers()
    for _ in range(3):
        bwp.install()
    assert len(initializers()) == len(before) + 1
    assert botocore.waiter.Waiter.__dict__["wait"].__wrapped__ is STOCK_WAIT
    assert botocore.session.Session.__dict__["create_client"].__wrapped__ is STOCK_CREATE
    client = boto3.client("kinesis")
    calls = answers(client, active).operations
    client.get_waiter("stream_exists").wait(StreamName="s")
    assert calls == ["DescribeStream"]
    assert type(client).__mro__.count(type(client).__mro__[1]) == 1


def test_uninstall_leaves_nothing_behind():
    before = initializers()
    bwp.install()
    bwp.uninstall()
    assert initializers() == before
    assert botocore.waiter.Waiter.__dict__["wait"] is STOCK_WAIT
    assert botocore.session.Session.__dict__["create_client"] is STOCK_CREATE
    assert not hasattr(botocore.waiter.Waiter, "outcome")
    assert not waits(boto3.client("kinesis"))


def test_uninstalling_what_is_not_installed_does_nothing():
    bwp.uninstall()
    bwp.uninstall()
    assert botocore.waiter.Waiter.__dict__["wait"] is STOCK_WAIT


def test_clients_that_exist_are_stock_after_uninstall(answers, active):
    bwp.install()
    client = boto3.client("kinesis")
    answers(client, active)
    waiter = client.get_waiter("stream_exists")
    assert waits(client)
    assert client.wait_until_stream_exists(StreamName="s", max_wait=1)
    bwp.uninstall()
    assert not waits(client)
    assert [name for name in dir(client) if name.startswith("wait_until")] == []
    with pytest.raises(AttributeError, match=r"has no attribute 'wait_until_stream_exists'$"):
        client.wait_until_stream_exists  # noqa: B018 - the access is the test
    assert client.get_waiter("stream_exists").wait(StreamName="s") is None
    assert waiter.wait(StreamName="s") is None


def test_sessions_that_exist_are_stock_after_uninstall():
    bwp.install()
    session = boto3.Session()
    bwp.uninstall()
    client = session.client("kinesis")
    assert not waits(client)
    assert [base.__name__ for base in type(client).__mro__] == ["Kinesis", "BaseClient", "object"]


def test_installing_again_reaches_old_and_new_clients(answers, active):
    bwp.install()
    client, session = boto3.client("kinesis"), boto3.Session()
    answers(client, active)
    bwp.uninstall()
    bwp.install()
    assert waits(client)
    assert waits(session.client("kinesis"))
    assert client.get_waiter("stream_exists").wait(StreamName="s").attempts == 1


def test_unknown_words_in_waiterconfig_are_stocks_to_ignore_after_uninstall(answers, active):
    bwp.install()
    client = boto3.client("kinesis")
    answers(client, active)
    bwp.uninstall()
    client.get_waiter("stream_exists").wait(StreamName="s", WaiterConfig={"Unknown": 1})


# --- threads ------------------------------------------------------------------------------------


def test_sixteen_threads_installing_install_once():
    before = initializers()
    barrier = threading.Barrier(16)

    def install(_):
        barrier.wait(10)
        bwp.install()

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(install, range(16)))
    assert len(initializers()) == len(before) + 1
    assert botocore.waiter.Waiter.__dict__["wait"].__wrapped__ is STOCK_WAIT
    assert botocore.session.Session.__dict__["create_client"].__wrapped__ is STOCK_CREATE


def test_threads_installing_uninstalling_and_making_clients_end_clean():
    session = boto3.Session()
    session.client("kinesis")
    barrier = threading.Barrier(8)

    def act(number):
        barrier.wait(10)
        for _ in range(5):
            if number % 2:
                bwp.install()
                bwp.uninstall()
            else:
                assert session.client("kinesis").get_waiter("stream_exists")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(act, range(8)))
    bwp.uninstall()
    assert botocore.waiter.Waiter.__dict__["wait"] is STOCK_WAIT
    assert not waits(session.client("kinesis"))
    bwp.install()
    assert waits(session.client("kinesis"))


# --- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({"definitions": {"smithy": "2.0", "shapes": {"a": 3}}}, bwp.WaiterDefinitionError),
        ({"definitions": {}}, bwp.WaiterDefinitionError),
        ({"definitions": "/nowhere.json"}, bwp.WaiterDefinitionError),
        ({"definitions": 3}, bwp.WaiterDefinitionError),
        ({"definitions": [{"waiters": {"A": {}}}]}, bwp.WaiterDefinitionError),
        ({"defaults": {"min_dely": 3}}, TypeError),
        ({"defaults": {"max_wait": 3}}, TypeError),
        ({"defaults": 3}, TypeError),
        ({"defaults": {"min_delay": -1}}, ValueError),
        ({"defaults": {"min_delay": 9, "max_delay": 3}}, ValueError),
        ({"on_event": "print"}, TypeError),
    ],
    ids=str,
)
@pytest.mark.parametrize("again", [False, True])
def test_bad_settings_leave_nothing_half_installed(settings, kind, again, answers, active):
    if again:
        bwp.install()
    before = (
        initializers(),
        botocore.waiter.Waiter.__dict__["wait"],
        botocore.session.Session.__dict__["create_client"],
    )
    with pytest.raises(kind):
        bwp.install(**settings)
    assert before == (
        initializers(),
        botocore.waiter.Waiter.__dict__["wait"],
        botocore.session.Session.__dict__["create_client"],
    )
    client = boto3.client("kinesis")
    answers(client, active)
    assert waits(client) is again
    client.get_waiter("stream_exists").wait(StreamName="s")


def test_one_bad_definition_among_good_ones_refuses_all(definition):
    bad = definition("Broken", minDelay=9, maxDelay=3)
    with pytest.raises(bwp.WaiterDefinitionError, match=r"waiter Broken: minDelay"):
        bwp.install(definitions=[definition("Fine"), bad])
    bwp.install()
    assert not hasattr(boto3.client("kinesis"), "wait_until_fine")


def test_error_of_a_file_names_file_waiter_and_acceptor(tmp_path, definition):
    document = definition("Broken")
    [shape] = document["shapes"].values()
    shape["traits"]["smithy.waiters#waitable"]["Broken"]["acceptors"].append({"state": "no"})
    path = tmp_path / "kinesis.json"
    path.write_text(json.dumps(document))
    with pytest.raises(bwp.WaiterDefinitionError) as caught:
        bwp.install(definitions=path)
    assert str(caught.value).startswith(f"{path}: waiter Broken, acceptor 1: ")
    assert (caught.value.source, caught.value.waiter, caught.value.acceptor) == (
        str(path),
        "Broken",
        1,
    )


def test_definition_whose_method_name_is_taken_is_refused(definition):
    def add(class_attributes, **_):
        class_attributes["wait_until_mine"] = "taken"

    session = boto3.Session()
    session.events.register_first("creating-client-class.kinesis", add)
    bwp.install(definitions=definition("Mine"))
    with pytest.raises(bwp.WaiterDefinitionError, match=r"waiter Mine.*wait_until_mine"):
        session.client("kinesis")


def test_taken_name_concerns_the_definitions_own_service_only(definition):
    def add(class_attributes, **_):
        class_attributes["wait_until_mine"] = "taken"

    session = boto3.Session()
    session.events.register_first("creating-client-class.sts", add)
    bwp.install(definitions=definition("Mine"))
    assert session.client("sts").wait_until_mine == "taken"
    assert callable(session.client("kinesis").wait_until_mine)
