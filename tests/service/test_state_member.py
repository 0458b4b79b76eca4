"""The state of a response by the model of its operation."""

import botocore.session
from case_tables import tabled
from installed_models import with_the_operations_of_today

from boto_waiters_plus.service.state_member import state_path


@with_the_operations_of_today
@tabled("service", "operation", "members", "path")
def test_state_is_found_by_its_name(service, operation, members, path):
    model = botocore.session.Session().get_service_model(service)
    assert state_path(model.operation_model(operation), members) == path
