"""What all tests share: no real account, and a hypothesis profile."""

import asyncio
import os

import hypothesis
import pytest

hypothesis.settings.register_profile("quick", max_examples=50, deadline=None)
hypothesis.settings.register_profile("thorough", max_examples=1000, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture(scope="session", autouse=True)
def _no_real_account():
    """Nothing of the machine's own AWS configuration reaches a test."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_PROFILE", "AWS_DATA_PATH", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"):
            patch.delenv(name, raising=False)
        patch.setenv("AWS_CONFIG_FILE", os.devnull)
        patch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
        patch.setenv("AWS_ACCESS_KEY_ID", "testing")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        yield


class Styled:
    """The functions of a module or an object in one of three styles, called as if they blocked.

    Attributes:
        style: "blocking", "task" or "awaited".
    """

    def __init__(self, target, style):
        self._target = target
        self.style = style

    def __getattr__(self, name):
        if self.style == "blocking":
            return getattr(self._target, name)
        function = getattr(self._target, f"{name}_async")
        return lambda call, *arguments, **options: asyncio.run(
            function(self._callables(call), *arguments, **options)
        )

    def _callables(self, call):
        match call:
            case dict():
                return {key: self._callable(one) for key, one in call.items()}
            case list():
                return [self._callable(one) for one in call]
            case _:
                return self._callable(call)

    def _callable(self, call):
        if self.style != "awaited" or not callable(call):
            return call

        async def awaited():
            await asyncio.sleep(0)
            return call()

        return awaited


@pytest.fixture(params=["blocking", "task", "awaited"])
def styled(request):
    """`styled(module)`: its functions, blocking, in a task, and with a callable to await."""
    return lambda target: Styled(target, request.param)
