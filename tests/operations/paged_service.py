"""A service whose list has pages, and calls whose effects look for an item in it."""

from operations.test_begin import StaleService

CREATED = {
    "service": "rekognition",
    "method": "create_user",
    "parameters": {"CollectionId": "people", "UserId": "me"},
    "answer": {},
    "list": "Users",
}
DELETED = {**CREATED, "method": "delete_user"}
PAUSED = {
    "service": "apprunner",
    "method": "pause_service",
    "parameters": {"ServiceArn": "arn:aws:apprunner:us-east-1:123456789012:service/web/1"},
    "answer": {"OperationId": "mine"},
    "list": "OperationSummaryList",
}
OTHERS = {"UserId": "other", "UserStatus": "ACTIVE", "Id": "other", "Status": "SUCCEEDED"}
MINE = {"UserId": "me", "UserStatus": "ACTIVE", "Id": "mine", "Status": "SUCCEEDED"}


class PagedService(StaleService):
    """A client whose list has pages with these items, of which a request names one."""

    def __init__(self, row, clock, pages, client=None):
        super().__init__(row, clock, client)
        self.pages = pages

    def _answer(self, model, **rest):
        if model.name != self.operations[0]:
            number = int(self.requests[-1].get("NextToken", 0))
            following = {"NextToken": str(number + 1)} if number + 1 < len(self.pages) else {}
            page = {self.row["list"]: self.pages[number], **following}
            self.row = {**self.row, "polls": [[0, page]]}
        return super()._answer(model, **rest)
