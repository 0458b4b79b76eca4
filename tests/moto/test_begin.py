"""`begin` against moto: what `docs/testing.md` says of changes that moto does not end at once."""

import json

import boto3
import pytest
from docs.page_setups import make_database
from moto import mock_aws
from moto.moto_api import state_manager

import boto_waiters_plus as bwp

STEPS = json.dumps({"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}})


@pytest.fixture(autouse=True)
def _moto(virtual_time):
    with mock_aws(config={"stepfunctions": {"execute_state_machine": True}}):
        yield


@pytest.fixture
def slow_tasks():
    state_manager.set_transition("ecs::task", {"progression": "manual", "times": 2})
    yield
    state_manager.unset_transition("ecs::task")


def ended(method, max_wait=600, **parameters):
    return bwp.begin(method, max_wait=max_wait, **parameters).result()


def ecs_with_definition():
    ecs = boto3.client("ecs")
    ecs.create_cluster(clusterName="main")
    container = {"name": "web", "image": "web", "memory": 64, "cpu": 10}
    fargate = {"cpu": "256", "memory": "512", "networkMode": "awsvpc"}
    needs = {"requiresCompatibilities": ["FARGATE"], **fargate}
    ecs.register_task_definition(family="web", containerDefinitions=[container], **needs)
    return ecs


def run_task(**options):
    ec2 = boto3.client("ec2")
    group = ec2.describe_security_groups()["SecurityGroups"][0]["GroupId"]
    subnet = ec2.describe_subnets()["Subnets"][0]["SubnetId"]
    place = {"subnets": [subnet], "securityGroups": [group]}
    named = {"cluster": "main", "taskDefinition": "web", "launchType": "FARGATE"}
    named["networkConfiguration"] = {"awsvpcConfiguration": place}
    return ended(ecs_with_definition().run_task, **named, **options)


def test_new_password_holds_for_four_minutes(virtual_time):
    make_database("orders")
    change = {"DBInstanceIdentifier": "orders", "MasterUserPassword": "not-a-secret-2"}
    outcome = ended(boto3.client("rds").modify_db_instance, **change, ApplyImmediately=True)
    assert outcome.basis == "held"
    assert 240 <= virtual_time.now < 280


def test_attempts_stop_a_task():
    with pytest.raises(bwp.WaiterFailedError, match="STOPPED"):
        run_task()
    assert run_task(then_wait="TasksStopped").basis == "identity"


@pytest.mark.usefixtures("slow_tasks")
def test_slower_task_is_seen_running():
    assert run_task().basis == "identity"


def test_service_without_running_tasks_times_out():
    named = {"cluster": "main", "serviceName": "web", "taskDefinition": "web", "desiredCount": 1}
    with pytest.raises(bwp.WaiterTimeoutError, match="0 of 1 running"):
        ended(ecs_with_definition().create_service, **named)


def test_executed_state_machine_succeeds():
    role, machines = "arn:aws:iam::123456789012:role/r", boto3.client("stepfunctions")
    made = machines.create_state_machine(name="m", definition=STEPS, roleArn=role)
    run = {"stateMachineArn": made["stateMachineArn"]}
    # A thread of moto's executes it, in real time.
    assert ended(machines.start_execution, max_wait=36_000, **run).basis == "identity"


def test_peering_ends_when_it_is_accepted(virtual_time):
    ec2 = boto3.client("ec2")
    ids = [each["VpcId"] for each in ec2.describe_vpcs()["Vpcs"]]
    ids.append(ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"])

    def accept():
        [found] = ec2.describe_vpc_peering_connections()["VpcPeeringConnections"]
        peering = found["VpcPeeringConnectionId"]
        ec2.accept_vpc_peering_connection(VpcPeeringConnectionId=peering)

    virtual_time.call_at(60, accept)
    ended(ec2.create_vpc_peering_connection, VpcId=ids[0], PeerVpcId=ids[1])
    assert virtual_time.now >= 60


def test_answer_without_change_id_fails(virtual_time):
    opensearch = boto3.client("opensearch")
    opensearch.create_domain(DomainName="logs")
    change = {"DomainName": "logs", "ClusterConfig": {"InstanceCount": 2}}
    with pytest.raises(bwp.WaiterFailedError, match="does not tell ChangeId"):
        ended(opensearch.update_domain_config, **change)
    active = ("DomainActive", lambda response: {"DomainName": "logs"})
    ended(opensearch.update_domain_config, then_wait=active, **change)
    assert virtual_time.now == 0
