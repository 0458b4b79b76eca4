"""The paths of `data/reports.json` on the models: nothing sensitive, nothing that is not there."""

import pytest
from data.shared import operation_of
from laws import by_service

from boto_waiters_plus.definitions.shipped import shipped_traits
from boto_waiters_plus.definitions.smithy import REPORTS
from boto_waiters_plus.service.data_model import DataModel, member_names
from boto_waiters_plus.service.shapes import walk

ROWS = [(shape, waiter) for shape, reports in shipped_traits(REPORTS).items() for waiter in reports]

pytestmark = pytest.mark.models


@pytest.mark.parametrize(("shape", "waiter"), by_service(ROWS))
def test_every_word_can_be_read(shape, waiter):
    operation = operation_of(shape)
    shapes = [*walk(operation.output_shape)]
    has_keys = any(each.shape.type_name == "map" for each in shapes)
    for word, path in shipped_traits(REPORTS)[shape][waiter].items():
        assert word == word.lower().strip()
        assert not DataModel(operation, [("output", path)]).sensitive, path
        # The keys of a map are no members.
        assert has_keys or member_names(path) <= {each.name for each in shapes}, path
