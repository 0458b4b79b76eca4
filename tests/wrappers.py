"""Wrappers of methods as tracers and retry libraries make them, and proxies of clients."""

import functools

import wrapt


def by_wraps(method, calls):
    @functools.wraps(method)
    def wrapper(*arguments, **keywords):
        calls.append(method)
        return method(*arguments, **keywords)

    return wrapper


def by_wrapt(method, calls):
    def wrapper(wrapped, _, arguments, keywords):
        calls.append(wrapped)
        return wrapped(*arguments, **keywords)

    return wrapt.FunctionWrapper(method, wrapper)


class Wrapper:
    """An object with no other name than that of what it wraps."""

    def __init__(self, method, calls):
        self.__wrapped__, self._calls = method, calls

    def __call__(self, *arguments, **keywords):
        self._calls.append(self.__wrapped__)
        return self.__wrapped__(*arguments, **keywords)


def nested(method, calls):
    return by_wraps(Wrapper(by_wrapt(method, []), []), calls)


WRAPPERS = {"wraps": by_wraps, "wrapt": by_wrapt, "object": Wrapper, "nested": nested}


class Proxy:
    """A proxy of a client, which it passes everything on to, even what is no method."""

    def __init__(self, client, calls):
        self.__wrapped__, self._calls = client, calls

    def __getattr__(self, name):
        def call(**keywords):
            self._calls.append(name)
            return getattr(self.__wrapped__, name)(**keywords)

        return call


class ObjectProxy(wrapt.ObjectProxy):
    """The same by wrapt."""

    def __init__(self, client, calls):
        super().__init__(client)
        self._self_calls = calls

    def __getattr__(self, name):
        found = super().__getattr__(name)
        return by_wraps(found, self._self_calls) if callable(found) else found


PROXIES = {"object": Proxy, "wrapt": ObjectProxy}
