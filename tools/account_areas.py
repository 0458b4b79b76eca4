"""What `tools/account_run.py` makes, changes and deletes, one area of waiters at a time."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from account_resources import TAG


@dataclass(frozen=True)
class Area:
    """Waiters of one service, and the steps that create and change their resources."""

    service: str
    waiters: tuple[str, ...]
    dollars: float
    """What the steps cost at most, in US dollars at the prices of us-east-1."""
    steps: Callable[[Any, Any], None]


AREAS: list[Area] = []


def area(
    service: str, waiters: str, dollars: float = 0.0
) -> Callable[[Callable[[Any, Any], None]], Callable[[Any, Any], None]]:
    """Register steps, which are given the run and a client of the service."""

    def register(steps: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        AREAS.append(Area(service, tuple(waiters.split()), dollars, steps))
        return steps

    return register


@area(
    "s3",
    "BucketExists BucketNotExists BucketVersioningEnabled BucketVersioningSuspended "
    "ObjectExists ObjectNotExists",
    0.001,
)
def _bucket(run: Any, s3: Any) -> None:
    name, bucket = run.name(), {"Bucket": run.name()}
    place = {"LocationConstraint": run.region}
    where = {} if run.region == "us-east-1" else {"CreateBucketConfiguration": place}
    run.expect("BucketNotExists", bucket)
    run.refuse("BucketExists", bucket)
    run.make("bucket", name, s3.create_bucket, **bucket, **where)
    s3.put_bucket_tagging(**bucket, Tagging={"TagSet": run.tags()})
    run.expect("BucketExists", bucket)
    s3.put_bucket_versioning(**bucket, VersioningConfiguration={"Status": "Enabled"})
    run.expect("BucketVersioningEnabled", bucket)
    s3.put_bucket_versioning(**bucket, VersioningConfiguration={"Status": "Suspended"})
    run.expect("BucketVersioningSuspended", bucket)
    run.refuse("ObjectExists", {**bucket, "Key": "k"})
    s3.put_object(**bucket, Key="k", Body=b"1")
    run.expect("ObjectExists", {**bucket, "Key": "k"})
    s3.delete_object(**bucket, Key="k")
    run.expect("ObjectNotExists", {**bucket, "Key": "k"})
    run.end("bucket")
    run.expect("BucketNotExists", bucket)


@area(
    "dynamodb",
    "TableExists TableNotExists PointInTimeRecoveryEnabled BackupAvailable BackupDeleted "
    "GlobalSecondaryIndexesActive",
    0.01,
)
def _table(run: Any, dynamodb: Any) -> None:
    table = {"TableName": run.name()}
    fields = [{"AttributeName": each, "AttributeType": "S"} for each in ("a", "b")]
    run.refuse("TableExists", table)
    run.make(
        "table", run.name(), dynamodb.create_table, **table, Tags=run.tags(),
        BillingMode="PAY_PER_REQUEST", AttributeDefinitions=fields[:1],
        KeySchema=[{"AttributeName": "a", "KeyType": "HASH"}],
    )  # fmt: skip
    run.expect("TableExists", table)
    recovery = {"PointInTimeRecoveryEnabled": True}
    dynamodb.update_continuous_backups(**table, PointInTimeRecoverySpecification=recovery)
    run.expect("PointInTimeRecoveryEnabled", table)
    made = run.make(
        "backup", lambda made: made["BackupDetails"]["BackupArn"],
        dynamodb.create_backup, **table, BackupName=run.name(),
    )  # fmt: skip
    backup = {"BackupArn": made["BackupDetails"]["BackupArn"]}
    run.expect("BackupAvailable", backup)
    run.end("backup")
    run.expect("BackupDeleted", backup)
    index = {
        "IndexName": "by-b",
        "KeySchema": [{"AttributeName": "b", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    }
    dynamodb.update_table(
        **table, AttributeDefinitions=fields, GlobalSecondaryIndexUpdates=[{"Create": index}]
    )
    run.expect("GlobalSecondaryIndexesActive", table)
    run.end("table")
    run.expect("TableNotExists", table)


@area(
    "iam",
    "RoleExists RoleDeleted PolicyExists PolicyDeleted InstanceProfileExists "
    "InstanceProfileDeleted",
)
def _identities(run: Any, iam: Any) -> None:
    name = run.name("i")
    role, profile = {"RoleName": name}, {"InstanceProfileName": name}
    run.refuse("RoleExists", role)
    run.make(
        "role", name, iam.create_role, **role, Tags=run.tags(),
        AssumeRolePolicyDocument=_trust("ec2.amazonaws.com"),
    )  # fmt: skip
    run.expect("RoleExists", role)
    statement = {"Effect": "Deny", "Action": "*", "Resource": "*"}
    made = run.make(
        "policy", lambda made: made["Policy"]["Arn"], iam.create_policy, PolicyName=name,
        Tags=run.tags(), PolicyDocument=_policy(statement),
    )  # fmt: skip
    policy = {"PolicyArn": made["Policy"]["Arn"]}
    run.expect("PolicyExists", policy)
    run.refuse("InstanceProfileExists", profile)
    run.make("instance profile", name, iam.create_instance_profile, **profile, Tags=run.tags())
    run.expect("InstanceProfileExists", profile)
    iam.add_role_to_instance_profile(**profile, **role)
    iam.remove_role_from_instance_profile(**profile, **role)
    for kind, waiter, given in (
        ("instance profile", "InstanceProfileDeleted", profile),
        ("policy", "PolicyDeleted", policy),
        ("role", "RoleDeleted", role),
    ):
        run.refuse(waiter, given)
        run.end(kind)
        run.expect(waiter, given)


@area(
    "ec2",
    "VpcExists VpcAvailable VpcDeleted SubnetExists SubnetAvailable SubnetDeleted "
    "SecurityGroupExists SecurityGroupNotExists KeyPairExists KeyPairNotExists "
    "InternetGatewayExists InternetGatewayAttached InternetGatewayDetached InternetGatewayDeleted "
    "NetworkInterfaceAvailable NetworkInterfaceDeleted",
)
def _network(run: Any, ec2: Any) -> None:
    tags = _specification(run, "vpc")
    made = run.make("vpc", lambda made: made["Vpc"]["VpcId"], ec2.create_vpc,
                    CidrBlock="10.99.0.0/24", TagSpecifications=tags)  # fmt: skip
    vpc = made["Vpc"]["VpcId"]
    vpcs = {"VpcIds": [vpc]}
    run.expect("VpcExists", vpcs)
    run.expect("VpcAvailable", vpcs)
    made = run.make("subnet", lambda made: made["Subnet"]["SubnetId"], ec2.create_subnet,
                    VpcId=vpc, CidrBlock="10.99.0.0/25",
                    TagSpecifications=_specification(run, "subnet"))  # fmt: skip
    subnets = {"SubnetIds": [made["Subnet"]["SubnetId"]]}
    run.expect("SubnetExists", subnets)
    run.expect("SubnetAvailable", subnets)
    made = run.make("security group", lambda made: made["GroupId"], ec2.create_security_group,
                    VpcId=vpc, GroupName=run.name(), Description="one run",
                    TagSpecifications=_specification(run, "security-group"))  # fmt: skip
    groups = {"GroupIds": [made["GroupId"]]}
    run.expect("SecurityGroupExists", groups)
    keys = {"KeyNames": [run.name()]}
    run.make("key pair", run.name(), ec2.create_key_pair, KeyName=run.name(),
             TagSpecifications=_specification(run, "key-pair"))  # fmt: skip
    run.expect("KeyPairExists", keys)
    made = run.make("internet gateway", lambda made: made["InternetGateway"]["InternetGatewayId"],
                    ec2.create_internet_gateway,
                    TagSpecifications=_specification(run, "internet-gateway"))  # fmt: skip
    gateway = made["InternetGateway"]["InternetGatewayId"]
    gateways = {"InternetGatewayIds": [gateway]}
    run.expect("InternetGatewayExists", gateways)
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    run.expect("InternetGatewayAttached", gateways)
    ec2.detach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    run.expect("InternetGatewayDetached", gateways)
    made = run.make(
        "network interface", lambda made: made["NetworkInterface"]["NetworkInterfaceId"],
        ec2.create_network_interface, SubnetId=subnets["SubnetIds"][0], Groups=groups["GroupIds"],
        TagSpecifications=_specification(run, "network-interface"),
    )  # fmt: skip
    interfaces = {"NetworkInterfaceIds": [made["NetworkInterface"]["NetworkInterfaceId"]]}
    run.expect("NetworkInterfaceAvailable", interfaces)
    for kind, waiter, given in (
        ("network interface", "NetworkInterfaceDeleted", interfaces),
        ("internet gateway", "InternetGatewayDeleted", gateways),
        ("key pair", "KeyPairNotExists", keys),
        ("security group", "SecurityGroupNotExists", groups),
        ("subnet", "SubnetDeleted", subnets),
        ("vpc", "VpcDeleted", vpcs),
    ):
        run.refuse(waiter, given)
        run.end(kind)
        run.expect(waiter, given)


@area("ec2", "VolumeCreated VolumeAvailable VolumeDeleted SnapshotCompleted SnapshotDeleted", 0.001)
def _volume(run: Any, ec2: Any) -> None:
    zone = ec2.describe_availability_zones()["AvailabilityZones"][0]["ZoneName"]
    made = run.make("volume", lambda made: made["VolumeId"], ec2.create_volume, Size=1,
                    AvailabilityZone=zone, VolumeType="gp3",
                    TagSpecifications=_specification(run, "volume"))  # fmt: skip
    volume = made["VolumeId"]
    run.expect("VolumeCreated", {"VolumeIds": [volume]})
    run.expect("VolumeAvailable", {"VolumeIds": [volume]})
    made = run.make("snapshot", lambda made: made["SnapshotId"], ec2.create_snapshot,
                    VolumeId=volume, TagSpecifications=_specification(run, "snapshot"))  # fmt: skip
    snapshots = {"SnapshotIds": [made["SnapshotId"]]}
    run.expect("SnapshotCompleted", snapshots)
    run.end("snapshot")
    run.expect("SnapshotDeleted", snapshots)
    run.end("volume")
    run.expect("VolumeDeleted", {"VolumeIds": [volume]})


@area(
    "lambda",
    "FunctionExists FunctionActive FunctionActiveV2 FunctionUpdated FunctionUpdatedV2 "
    "PublishedVersionActive FunctionDeleted",
)
def _function(run: Any, client: Any) -> None:
    function = {"FunctionName": run.name()}
    run.refuse("FunctionExists", function)
    # A new role is not known everywhere at once.
    run.make("function", run.name(), client.create_function, **function, Role=run.role(),
             Runtime="python3.12", Handler="m.f", Code={"ZipFile": _code()}, Tags=run.tags("map"),
             again_on="InvalidParameterValueException")  # fmt: skip
    run.expect("FunctionExists", function)
    run.expect("FunctionActive", function)
    run.expect("FunctionActiveV2", function)
    client.update_function_configuration(**function, Description="changed")
    run.expect("FunctionUpdated", function)
    run.expect("FunctionUpdatedV2", function)
    version = client.publish_version(**function)["Version"]
    run.expect("PublishedVersionActive", {**function, "Qualifier": version})
    run.refuse("FunctionDeleted", function)
    run.end("function")
    run.expect("FunctionDeleted", function)


@area("stepfunctions", "ExecutionSucceeded StateMachineDeleted", 0.001)
def _machine(run: Any, client: Any) -> None:
    states = {"StartAt": "p", "States": {"p": {"Type": "Pass", "End": True}}}
    made = run.make("state machine", lambda made: made["stateMachineArn"],
                    client.create_state_machine, name=run.name(), roleArn=run.role(),
                    definition=json.dumps(states), tags=run.tags("lower"),
                    again_on="AccessDeniedException")  # fmt: skip
    machine = {"stateMachineArn": made["stateMachineArn"]}
    execution = client.start_execution(**machine)["executionArn"]
    run.expect("ExecutionSucceeded", {"executionArn": execution})
    run.refuse("StateMachineDeleted", machine)
    run.end("state machine")
    run.expect("StateMachineDeleted", machine)


@area(
    "cloudformation",
    "StackExists StackCreateComplete ChangeSetCreateComplete StackUpdateComplete "
    "StackDeleteComplete",
)
def _stack(run: Any, client: Any) -> None:
    def template(text: str) -> str:
        topic = {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": text}}
        return json.dumps({"Resources": {"Topic": topic}})

    stack = {"StackName": run.name()}
    run.refuse("StackExists", stack)
    made = run.make("stack", run.name(), client.create_stack, **stack, Tags=run.tags(),
                    TemplateBody=template("one"))  # fmt: skip
    run.expect("StackExists", stack)
    run.expect("StackCreateComplete", stack)
    change = {**stack, "ChangeSetName": run.name()}
    client.create_change_set(**change, TemplateBody=template("two"), Tags=run.tags())
    run.expect("ChangeSetCreateComplete", change)
    client.execute_change_set(**change)
    run.expect("StackUpdateComplete", stack)
    run.end("stack")
    # The name of a deleted stack is free again; its id is not.
    run.expect("StackDeleteComplete", {"StackName": made["StackId"]})


@area("ssm", "DocumentActive DocumentDeleted")
def _document(run: Any, ssm: Any) -> None:
    step = {"action": "aws:runShellScript", "name": "s", "inputs": {"runCommand": ["true"]}}
    content = {"schemaVersion": "2.2", "mainSteps": [step]}
    document = {"Name": run.name()}
    run.make("document", run.name(), ssm.create_document, **document, Content=json.dumps(content),
             DocumentType="Command", Tags=run.tags())  # fmt: skip
    run.expect("DocumentActive", document)
    run.refuse("DocumentDeleted", document)
    run.end("document")
    run.expect("DocumentDeleted", document)


@area("sns", "SubscriptionConfirmed SubscriptionDeleted")
def _subscription(run: Any, sns: Any) -> None:
    sqs = run.client("sqs")
    queue = run.make("queue", lambda made: made["QueueUrl"], sqs.create_queue,
                     QueueName=run.name(), tags=run.tags("map"))["QueueUrl"]  # fmt: skip
    names = ["QueueArn"]
    address = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=names)["Attributes"]
    topic = run.make("topic", lambda made: made["TopicArn"], sns.create_topic, Name=run.name(),
                     Tags=run.tags())["TopicArn"]  # fmt: skip
    made = run.make("subscription", lambda made: made["SubscriptionArn"], sns.subscribe,
                    TopicArn=topic, Protocol="sqs", Endpoint=address["QueueArn"],
                    ReturnSubscriptionArn=True)  # fmt: skip
    subscription = {"SubscriptionArn": made["SubscriptionArn"]}
    run.expect("SubscriptionConfirmed", subscription)
    run.refuse("SubscriptionDeleted", subscription)
    run.end("subscription")
    run.expect("SubscriptionDeleted", subscription)


@area("kinesis", "StreamExists StreamNotExists", 0.02)
def _stream(run: Any, kinesis: Any) -> None:
    stream = {"StreamName": run.name()}
    run.expect("StreamNotExists", stream)
    run.make("stream", run.name(), kinesis.create_stream, **stream, ShardCount=1,
             Tags=run.tags("map"))  # fmt: skip
    run.expect("StreamExists", stream)
    run.end("stream")
    run.expect("StreamNotExists", stream)


@area("cloudwatch", "AlarmExists", 0.001)
def _alarm(run: Any, client: Any) -> None:
    alarm = {"AlarmNames": [run.name()]}
    run.refuse("AlarmExists", alarm)
    run.make("alarm", run.name(), client.put_metric_alarm, AlarmName=run.name(), Tags=run.tags(),
             Namespace=run.name(), MetricName="m", Statistic="Sum", Period=60, Threshold=1.0,
             EvaluationPeriods=1, ComparisonOperator="GreaterThanThreshold")  # fmt: skip
    run.expect("AlarmExists", alarm)
    run.end("alarm")
    run.refuse("AlarmExists", alarm)


@area("autoscaling", "GroupExists GroupNotExists")
def _group(run: Any, client: Any) -> None:
    ec2 = run.client("ec2")
    made = run.make(
        "launch template", lambda made: made["LaunchTemplate"]["LaunchTemplateId"],
        ec2.create_launch_template, LaunchTemplateName=run.name(),
        LaunchTemplateData={"ImageId": "ami-12345678", "InstanceType": "t3.nano"},
        TagSpecifications=_specification(run, "launch-template"),
    )  # fmt: skip
    template = {"LaunchTemplateId": made["LaunchTemplate"]["LaunchTemplateId"]}
    zone = ec2.describe_availability_zones()["AvailabilityZones"][0]["ZoneName"]
    groups = {"AutoScalingGroupNames": [run.name()]}
    run.expect("GroupNotExists", groups)
    run.refuse("GroupExists", groups)
    tags = [{**each, "PropagateAtLaunch": False} for each in run.tags()]
    # It has no instance.
    run.make("auto scaling group", run.name(), client.create_auto_scaling_group,
             AutoScalingGroupName=run.name(), MinSize=0, MaxSize=0, LaunchTemplate=template,
             AvailabilityZones=[zone], Tags=tags)  # fmt: skip
    run.expect("GroupExists", groups)
    run.end("auto scaling group")
    run.expect("GroupNotExists", groups)
    run.end("launch template")


@area("scheduler", "ScheduleGroupActive ScheduleGroupDeleted")
def _schedules(run: Any, client: Any) -> None:
    group = {"Name": run.name()}
    run.make("schedule group", run.name(), client.create_schedule_group, **group, Tags=run.tags())
    run.expect("ScheduleGroupActive", group)
    run.end("schedule group")
    run.expect("ScheduleGroupDeleted", group)


@area("ecs", "ClustersActive ClustersInactive")
def _cluster(run: Any, ecs: Any) -> None:
    clusters = {"clusters": [run.name()]}
    run.make("cluster", run.name(), ecs.create_cluster, clusterName=run.name(),
             tags=run.tags("lower"))  # fmt: skip
    run.expect("ClustersActive", clusters)
    run.refuse("ClustersInactive", clusters)
    run.end("cluster")
    run.expect("ClustersInactive", clusters)


@area("glue", "CrawlerReady CrawlerDeleted")
def _crawler(run: Any, glue: Any) -> None:
    crawler = {"Name": run.name()}
    run.make("crawler", run.name(), glue.create_crawler, **crawler, Role=run.role(),
             DatabaseName="none", Targets={"S3Targets": [{"Path": f"s3://{run.name()}/"}]},
             Tags=run.tags("map"), again_on="InvalidInputException")  # fmt: skip
    run.expect("CrawlerReady", crawler)
    run.refuse("CrawlerDeleted", crawler)
    run.end("crawler")
    run.expect("CrawlerDeleted", crawler)


@area("apigateway", "RestApiAvailable RestApiDeleted")
def _api(run: Any, client: Any) -> None:
    made = run.make("rest api", lambda made: made["id"], client.create_rest_api, name=run.name(),
                    tags=run.tags("map"))  # fmt: skip
    api = {"restApiId": made["id"]}
    run.expect("RestApiAvailable", api)
    run.refuse("RestApiDeleted", api)
    run.end("rest api")
    run.expect("RestApiDeleted", api)


@area("efs", "FileSystemAvailable FileSystemDeleted")
def _files(run: Any, efs: Any) -> None:
    made = run.make("file system", lambda made: made["FileSystemId"], efs.create_file_system,
                    CreationToken=run.name(), Tags=run.tags())  # fmt: skip
    files = {"FileSystemId": made["FileSystemId"]}
    run.expect("FileSystemAvailable", files)
    run.refuse("FileSystemDeleted", files)
    run.end("file system")
    run.expect("FileSystemDeleted", files)


@area("secretsmanager", "SecretDeleted", 0.001)
def _secret(run: Any, client: Any) -> None:
    secret = {"SecretId": run.name()}
    run.make("secret", run.name(), client.create_secret, Name=run.name(), SecretString="-",
             Tags=run.tags())  # fmt: skip
    run.refuse("SecretDeleted", secret)
    run.end("secret")
    run.expect("SecretDeleted", secret)


@area("codebuild", "ReportGroupDeleted")
def _reports(run: Any, client: Any) -> None:
    made = run.make("report group", lambda made: made["reportGroup"]["arn"],
                    client.create_report_group, name=run.name(), type="TEST",
                    exportConfig={"exportConfigType": "NO_EXPORT"},
                    tags=run.tags("lower"))  # fmt: skip
    groups = {"reportGroupArns": [made["reportGroup"]["arn"]]}
    run.refuse("ReportGroupDeleted", groups)
    run.end("report group")
    run.expect("ReportGroupDeleted", groups)


@area("route53", "ResourceRecordSetsChanged HostedZoneDeleted", 0.01)
def _zone(run: Any, route53: Any) -> None:
    # A zone that is deleted within twelve hours costs nothing.
    made = run.make("hosted zone", lambda made: made["HostedZone"]["Id"].rpartition("/")[2],
                    route53.create_hosted_zone, Name=f"{run.name()}.example.net",
                    CallerReference=run.name())  # fmt: skip
    zone = made["HostedZone"]["Id"].rpartition("/")[2]
    route53.change_tags_for_resource(ResourceType="hostedzone", ResourceId=zone, AddTags=run.tags())
    record = {"Name": f"a.{run.name()}.example.net", "Type": "TXT", "TTL": 60,
              "ResourceRecords": [{"Value": '"1"'}]}  # fmt: skip
    changes = [{"Action": "CREATE", "ResourceRecordSet": record}]
    changed = route53.change_resource_record_sets(
        HostedZoneId=zone, ChangeBatch={"Changes": changes}
    )
    run.expect("ResourceRecordSetsChanged", {"Id": changed["ChangeInfo"]["Id"].rpartition("/")[2]})
    run.refuse("HostedZoneDeleted", {"Id": zone})
    run.end("hosted zone")
    run.expect("HostedZoneDeleted", {"Id": zone})


def _specification(run: Any, kind: str) -> list[dict[str, Any]]:
    return [{"ResourceType": kind, "Tags": run.tags()}]


def _trust(*services: str) -> str:
    who = {"Service": list(services)}
    return _policy({"Effect": "Allow", "Principal": who, "Action": "sts:AssumeRole"})


def _policy(statement: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def shared_role(run: Any) -> str:
    """Make the role of functions, state machines and crawlers, which may do nothing."""
    iam = run.client("iam")
    trust = _trust("lambda.amazonaws.com", "states.amazonaws.com", "glue.amazonaws.com")
    made = run.make("role", run.name("role"), iam.create_role, RoleName=run.name("role"),
                    AssumeRolePolicyDocument=trust, Tags=run.tags(), shared=True)  # fmt: skip
    return str(made["Role"]["Arn"])


def _code() -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("m.py", f"def f(event, context):\n    return {TAG!r}\n")
    return archive.getvalue()
