"""How each kind of resource that `tools/account_run.py` makes is deleted, and found by its tag."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from botocore.exceptions import ClientError

TAG = "boto-waiters-account-run"
"""Every resource has this tag; its value is the id of the run."""

PREFIX = "bwp-run-"
"""Every name begins with this."""

ClientOf = Callable[[str], Any]


class Resource(NamedTuple):
    """A resource of the account."""

    kind: str
    id: str
    """What the deletion takes; several members are parted by blanks."""

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"


def delete(client_of: ClientOf, resource: Resource) -> None:
    """Delete a resource, unless it is gone already."""
    service, way = DELETIONS[resource.kind]
    client = client_of(service)
    try:
        if isinstance(way, str):
            method, *members = way.split()
            ids = resource.id.split(" ", len(members) - 1)
            getattr(client, method)(**dict(zip(members, ids, strict=True)))
        else:
            way(client, resource.id)
    except ClientError as error:
        if not _is_gone(error):
            raise


def _is_gone(error: ClientError) -> bool:
    code = str(error.response.get("Error", {}).get("Code", ""))
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    message = str(error.response.get("Error", {}).get("Message", ""))
    return (
        status == 404
        or bool(re.search(r"NotFound|NoSuch|DoesNotExist|ResourceMissing", code))
        or "does not exist" in message
        or "not found" in message
    )


def _bucket(s3: Any, name: str) -> None:
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=name):
        for each in (*page.get("Versions", ()), *page.get("DeleteMarkers", ())):
            s3.delete_object(Bucket=name, Key=each["Key"], VersionId=each["VersionId"])
    s3.delete_bucket(Bucket=name)


def _role(iam: Any, name: str) -> None:
    for each in iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]:
        iam.detach_role_policy(RoleName=name, PolicyArn=each["PolicyArn"])
    for each in iam.list_instance_profiles_for_role(RoleName=name)["InstanceProfiles"]:
        iam.remove_role_from_instance_profile(
            RoleName=name, InstanceProfileName=each["InstanceProfileName"]
        )
    iam.delete_role(RoleName=name)


def _gateway(ec2: Any, gateway: str) -> None:
    [found] = ec2.describe_internet_gateways(InternetGatewayIds=[gateway])["InternetGateways"]
    for each in found["Attachments"]:
        ec2.detach_internet_gateway(InternetGatewayId=gateway, VpcId=each["VpcId"])
    ec2.delete_internet_gateway(InternetGatewayId=gateway)


def _key_pair(ec2: Any, key: str) -> None:
    # A run knows its name, and an ARN has its id.
    ec2.delete_key_pair(**{"KeyPairId" if key.startswith("key-") else "KeyName": key})


def _compute_environment(batch: Any, name: str) -> None:
    batch.update_compute_environment(computeEnvironment=name, state="DISABLED")
    batch.delete_compute_environment(computeEnvironment=name)


def _application(client: Any, application: str) -> None:
    with contextlib.suppress(ClientError):
        client.stop_application(applicationId=application)
    client.delete_application(applicationId=application)


def _user_pool(client: Any, pool: str) -> None:
    # A domain has no tag.
    domain = client.describe_user_pool(UserPoolId=pool)["UserPool"].get("Domain")
    if domain:
        client.delete_user_pool_domain(Domain=domain, UserPoolId=pool)
    client.delete_user_pool(UserPoolId=pool)


def _cluster(dsql: Any, cluster: str) -> None:
    try:
        dsql.delete_cluster(identifier=cluster)
    except ClientError:
        # The next round can delete it.
        dsql.update_cluster(identifier=cluster, deletionProtectionEnabled=False)
        raise


def _namespace(client: Any, name: str) -> None:
    # A run knows its name, which a deletion does not take.
    for page in client.get_paginator("list_namespaces").paginate():
        for each in page["Namespaces"]:
            if name in (each["Name"], each["Id"]):
                client.delete_namespace(Id=each["Id"])


def _zone(route53: Any, zone: str) -> None:
    records = route53.list_resource_record_sets(HostedZoneId=zone)["ResourceRecordSets"]
    changes = [
        {"Action": "DELETE", "ResourceRecordSet": each}
        for each in records
        if each["Type"] not in ("NS", "SOA")
    ]
    if changes:
        route53.change_resource_record_sets(HostedZoneId=zone, ChangeBatch={"Changes": changes})
    route53.delete_hosted_zone(Id=zone)


DELETIONS: dict[str, tuple[str, str | Callable[[Any, str], object]]] = {
    "stack": ("cloudformation", "delete_stack StackName"),
    "prometheus workspace": ("amp", "delete_workspace workspaceId"),
    "http api": ("apigatewayv2", "delete_api ApiId"),
    "configured environment": ("appconfig", "delete_environment ApplicationId EnvironmentId"),
    "configured application": ("appconfig", "delete_application ApplicationId"),
    "graphql api": ("appsync", "delete_graphql_api apiId"),
    "data catalog": ("athena", "delete_data_catalog Name"),
    "backup vault": ("backup", "delete_backup_vault BackupVaultName"),
    "compute environment": ("batch", _compute_environment),
    "anomaly detector": ("logs", "delete_log_anomaly_detector anomalyDetectorArn"),
    "log group": ("logs", "delete_log_group logGroupName"),
    "user pool domain": ("cognito-idp", "delete_user_pool_domain Domain UserPoolId"),
    "user pool": ("cognito-idp", _user_pool),
    "direct connect gateway": (
        "directconnect",
        "delete_direct_connect_gateway directConnectGatewayId",
    ),
    "dsql cluster": ("dsql", _cluster),
    "repository": ("ecr", "delete_repository repositoryName"),
    "cache user": ("elasticache", "delete_user UserId"),
    "spark application": ("emr-serverless", _application),
    "archive": ("events", "delete_archive ArchiveName"),
    "event bus": ("events", "delete_event_bus Name"),
    "delivery stream": ("firehose", "delete_delivery_stream DeliveryStreamName"),
    "keyspace table": ("keyspaces", "delete_table keyspaceName tableName"),
    "keyspace": ("keyspaces", "delete_keyspace keyspaceName"),
    "flow": ("mediaconnect", "delete_flow FlowArn"),
    "rule group": (
        "network-firewall",
        lambda client, name: client.delete_rule_group(RuleGroupName=name, Type="STATELESS"),
    ),
    "site": ("networkmanager", "delete_site GlobalNetworkId SiteId"),
    "global network": ("networkmanager", "delete_global_network GlobalNetworkId"),
    "resource share": ("ram", "delete_resource_share resourceShareArn"),
    "resolver rule": ("route53resolver", "delete_resolver_rule ResolverRuleId"),
    "namespace": ("servicediscovery", _namespace),
    "vocabulary": ("transcribe", "delete_vocabulary VocabularyName"),
    "target group": ("vpc-lattice", "delete_target_group targetGroupIdentifier"),
    "state machine": ("stepfunctions", "delete_state_machine stateMachineArn"),
    "function": ("lambda", "delete_function FunctionName"),
    "auto scaling group": (
        "autoscaling",
        lambda client, name: client.delete_auto_scaling_group(
            AutoScalingGroupName=name, ForceDelete=True
        ),
    ),
    "alarm": ("cloudwatch", lambda client, name: client.delete_alarms(AlarmNames=[name])),
    "schedule group": ("scheduler", "delete_schedule_group Name"),
    "cluster": ("ecs", "delete_cluster cluster"),
    "trigger": ("glue", "delete_trigger Name"),
    "crawler": ("glue", "delete_crawler Name"),
    "rest api": ("apigateway", "delete_rest_api restApiId"),
    "file system": ("efs", "delete_file_system FileSystemId"),
    "document": ("ssm", "delete_document Name"),
    "subscription": ("sns", "unsubscribe SubscriptionArn"),
    "topic": ("sns", "delete_topic TopicArn"),
    "queue": ("sqs", "delete_queue QueueUrl"),
    "stream": ("kinesis", "delete_stream StreamName"),
    "secret": (
        "secretsmanager",
        lambda client, name: client.delete_secret(SecretId=name, ForceDeleteWithoutRecovery=True),
    ),
    "report group": ("codebuild", "delete_report_group arn"),
    "hosted zone": ("route53", _zone),
    "backup": ("dynamodb", "delete_backup BackupArn"),
    "table": ("dynamodb", "delete_table TableName"),
    "bucket": ("s3", _bucket),
    "snapshot": ("ec2", "delete_snapshot SnapshotId"),
    "volume": ("ec2", "delete_volume VolumeId"),
    "key pair": ("ec2", _key_pair),
    "launch template": ("ec2", "delete_launch_template LaunchTemplateId"),
    "network interface": ("ec2", "delete_network_interface NetworkInterfaceId"),
    "security group": ("ec2", "delete_security_group GroupId"),
    "subnet": ("ec2", "delete_subnet SubnetId"),
    "internet gateway": ("ec2", _gateway),
    "vpc": ("ec2", "delete_vpc VpcId"),
    "instance profile": ("iam", "delete_instance_profile InstanceProfileName"),
    "role": ("iam", _role),
    "policy": ("iam", "delete_policy PolicyArn"),
}
"""Service and way of deletion of each kind; what others depend on comes later."""

_ARNS = (
    ("bucket", r":s3:::(.+)"),
    ("table", r":dynamodb:.*:table/([^/]+)"),
    ("backup", r"(.*:dynamodb:.*:table/.+/backup/.+)"),
    ("function", r":lambda:.*:function:([^:]+)"),
    ("state machine", r"(.*:states:.*:stateMachine:[^:]+)"),
    ("stack", r":cloudformation:.*:stack/([^/]+)/.*"),
    ("document", r":ssm:.*:document/(.+)"),
    ("subscription", r"(.*:sns:[^:]*:[^:]*:[^:]+:.+)"),
    ("topic", r"(.*:sns:[^:]*:[^:]*:[^:]+)"),
    ("stream", r":kinesis:.*:stream/([^/]+)"),
    ("alarm", r":cloudwatch:.*:alarm:(.+)"),
    ("schedule group", r":scheduler:.*:schedule-group/(.+)"),
    ("cluster", r":ecs:.*:cluster/(.+)"),
    ("crawler", r":glue:.*:crawler/(.+)"),
    ("trigger", r":glue:.*:trigger/(.+)"),
    ("rest api", r":apigateway:.*::/restapis/([^/]+)"),
    ("file system", r":elasticfilesystem:.*:file-system/(.+)"),
    ("secret", r"(.*:secretsmanager:.*:secret:.+)"),
    ("report group", r"(.*:codebuild:.*:report-group/.+)"),
    ("hosted zone", r":route53:::hostedzone/(.+)"),
    ("prometheus workspace", r":aps:.*:workspace/(.+)"),
    ("http api", r":apigateway:.*::/apis/([^/]+)"),
    ("configured environment", r":appconfig:.*:application/(.+)/environment/(.+)"),
    ("configured application", r":appconfig:.*:application/([^/]+)"),
    ("graphql api", r":appsync:.*:apis/([^/]+)"),
    ("data catalog", r":athena:.*:datacatalog/(.+)"),
    ("backup vault", r":backup:.*:backup-vault:(.+)"),
    ("compute environment", r":batch:.*:compute-environment/(.+)"),
    ("anomaly detector", r"(.*:logs:.*:anomaly-detector:.+)"),
    ("log group", r":logs:.*:log-group:([^:]+).*"),
    ("user pool", r":cognito-idp:.*:userpool/(.+)"),
    ("direct connect gateway", r":directconnect:.*:dx-gateway/(.+)"),
    ("dsql cluster", r":dsql:.*:cluster/(.+)"),
    ("repository", r":ecr:.*:repository/(.+)"),
    ("cache user", r":elasticache:.*:user:(.+)"),
    ("spark application", r":emr-serverless:.*:/applications/(.+)"),
    ("event bus", r":events:.*:event-bus/(.+)"),
    ("delivery stream", r":firehose:.*:deliverystream/(.+)"),
    ("keyspace table", r":cassandra:.*:/keyspace/(.+)/table/(.+)"),
    ("keyspace", r":cassandra:.*:/keyspace/([^/]+)/?"),
    ("flow", r"(.*:mediaconnect:.*:flow:.+)"),
    ("rule group", r":network-firewall:.*:stateless-rulegroup/(.+)"),
    ("site", r":networkmanager:.*:site/(.+)/(.+)"),
    ("global network", r":networkmanager:.*:global-network/(.+)"),
    ("resource share", r"(.*:ram:.*:resource-share/.+)"),
    ("resolver rule", r":route53resolver:.*:resolver-rule/(.+)"),
    ("namespace", r":servicediscovery:.*:namespace/(.+)"),
    ("vocabulary", r":transcribe:.*:vocabulary/(.+)"),
    ("target group", r":vpc-lattice:.*:targetgroup/(.+)"),
    ("vpc", r":ec2:.*:vpc/(.+)"),
    *(
        (kind, rf":ec2:.*:{kind.replace(' ', '-')}/(.+)")
        for kind in (
            "snapshot", "volume", "key pair", "launch template", "network interface",
            "security group", "subnet", "internet gateway",
        )
    ),
)  # fmt: skip


_TOLD_OTHERWISE = r"arn:[^:]*:(iam|sqs|autoscaling):"


def resource_of(arn: str) -> Resource | None:
    """Return the resource of an ARN; None if its kind is none that a run makes."""
    for kind, pattern in _ARNS:
        # A pattern that begins with its group takes the ARN whole.
        match = re.fullmatch(pattern if pattern[0] == "(" else f"arn:[^:]*{pattern}", arn)
        if match:
            return Resource(kind, " ".join(match.groups()))
    return None


def leftovers(client_of: ClientOf) -> tuple[list[Resource], list[str]]:
    """Return what has the tag, in the order of deletion, and the ARNs of what is not known."""
    arns = []
    paginator = client_of("resourcegroupstaggingapi").get_paginator("get_resources")
    for page in paginator.paginate(TagFilters=[{"Key": TAG}]):
        arns += [each["ResourceARN"] for each in page["ResourceTagMappingList"]]
    found = {arn: resource_of(arn) for arn in arns if not re.match(_TOLD_OTHERWISE, arn)}
    known = {*filter(None, found.values()), *_untold(client_of)}
    order = list(DELETIONS)
    return (
        sorted(known, key=lambda each: (order.index(each.kind), each.id)),
        [arn for arn, resource in found.items() if resource is None],
    )


def _untold(client_of: ClientOf) -> Iterator[Resource]:
    """Yield what has the tag, or cannot have one, of kinds that the tagging API does not tell."""
    yield from _identities(client_of("iam"))
    groups = client_of("autoscaling").get_paginator("describe_auto_scaling_groups")
    for page in groups.paginate():
        for each in page["AutoScalingGroups"]:
            if _is_tagged(each.get("Tags", ())):
                yield Resource("auto scaling group", each["AutoScalingGroupName"])
    sqs = client_of("sqs")
    for url in sqs.list_queues(QueueNamePrefix=PREFIX).get("QueueUrls", ()):
        with contextlib.suppress(ClientError):
            if TAG in sqs.list_queue_tags(QueueUrl=url).get("Tags", {}):
                yield Resource("queue", url)
    for each in client_of("events").list_archives(NamePrefix=PREFIX)["Archives"]:
        yield Resource("archive", each["ArchiveName"])
    # A run that was killed may not have tagged its bucket.
    for each in client_of("s3").list_buckets()["Buckets"]:
        if each["Name"].startswith(PREFIX):
            yield Resource("bucket", each["Name"])


def _identities(iam: Any) -> Iterator[Resource]:
    for page in iam.get_paginator("list_roles").paginate():
        for each in page["Roles"]:
            name = each["RoleName"]
            if name.startswith(PREFIX) and _is_tagged(iam.list_role_tags(RoleName=name)["Tags"]):
                yield Resource("role", name)
    for page in iam.get_paginator("list_instance_profiles").paginate():
        for each in page["InstanceProfiles"]:
            name = each["InstanceProfileName"]
            tags = iam.list_instance_profile_tags
            if name.startswith(PREFIX) and _is_tagged(tags(InstanceProfileName=name)["Tags"]):
                yield Resource("instance profile", name)
    for page in iam.get_paginator("list_policies").paginate(Scope="Local"):
        for each in page["Policies"]:
            arn = each["Arn"]
            is_named = each["PolicyName"].startswith(PREFIX)
            if is_named and _is_tagged(iam.list_policy_tags(PolicyArn=arn)["Tags"]):
                yield Resource("policy", arn)


def _is_tagged(tags: Any) -> bool:
    return any(each["Key"] == TAG for each in tags)
