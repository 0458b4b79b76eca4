"""The messages of waits that did not succeed: what happened, to what, what was seen, what to do.

Waiter BucketExists timed out after 300 s for s3 Bucket=my-bucket: last state seen: 404 Not
Found (61 attempts of HeadBucket).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ..common.labels import short_arns
from ..common.wrong_arguments import Keyword
from ..engine.machine import AttemptsUsedUp, Ending, Failed, Succeeded, TimedOut
from ..engine.redaction import MAX_ITEMS, cut, listed, message_text, says, shown
from ..exceptions import ErrorT, WaiterError
from .facts import Attempt, RunFacts

MAX_NAMED: Final = 40
"""Characters of a state that is named twice in one sentence."""

_DENIED: Final = ("AccessDeniedException", "AccessDenied")


def reason_of(run: RunFacts, ending: Ending) -> str:
    """Return what follows the waiter's name in the message of its error."""
    about = f" for {run.label}" if run.label else ""
    details = _details(run, ending, _what_was_seen(run, ending))
    return f"{_what_happened(run, ending)}{about}: {details}"


def _details(run: RunFacts, ending: Ending, seen: str) -> str:
    """Return what was seen, the attempts made, and what follows from both."""
    made, advice = _attempts_made(run, ending), "".join(advice_after(run, ending))
    return f"{seen} ({made}).{_faults(run, ending)}{_cause(run, seen)}{advice}"


def _cause(run: RunFacts, seen: str) -> str:
    """Return what further reads told of a failure; empty without any, or if it is said already."""
    search = run.search
    if search is not None and search.cause is None and search.is_over_budget:
        return " Its cause was not asked for: other waits used up the reads."
    cause = _news_of_reads(run)
    return f" Cause: {message_text(cause).rstrip('. ')}." if cause and not says(seen, cause) else ""


def _news_of_reads(run: RunFacts) -> str:
    """Return what further reads told; empty without any, or if the service's message has it."""
    cause = (run.search.cause if run.search else None) or ""
    reason = (run.answer.reason.text if run.answer else None) or ""
    return "" if says(reason, cause) else cause


def _faults(run: RunFacts, ending: Ending) -> str:
    """Return the expressions that failed on the last answer; empty if none did.

    A function that was given null is one of them if no answer gave it another value.
    """
    problems = run.answer.problems if run.answer else ()
    faults = {each.path: str(each) for each in problems if each.is_fault}
    if not isinstance(ending, Failed):
        faults.update({each.path: str(each) for each in run.failing or ()})
    return f" Failing expressions: {'; '.join(faults.values())}." if faults else ""


def details_after_botocores(run: RunFacts, ending: Ending) -> str:
    """Return what botocore's words leave out: the resource, the state seen, the attempts made."""
    if not isinstance(ending, Failed):
        seen = _what_was_seen(run, ending)
    else:
        attempt = run.answer
        # botocore's words have the service's message.
        seen = "no answer" if attempt is None else attempt.error or _state_alone(attempt)
        ids = _ids_in_words(run, "failed: ")
        seen = f"last state seen: {seen}{f'; {ids}' if ids else ''}"
    more = _details(run, ending, seen)
    return f"For {run.label}: {more}" if run.label else more[0].upper() + more[1:]


def _attempts_made(run: RunFacts, ending: Ending) -> str:
    """Return the number of attempts in words, with the time where the message lacks it."""
    made = count_of_attempts(run.attempts)
    if run.description.operation != run.label:
        made += f" of {run.description.operation}"
    made = made if isinstance(ending, TimedOut) else f"{made} in {run.elapsed:.1f} s"
    return made + _transient_errors(run)


def _transient_errors(run: RunFacts) -> str:
    """Return the number of transient errors in words, and the last of them; empty without any."""
    number, last = run.transient_errors, run.last_transient_error
    if not number:
        return ""
    if not last:
        return f"; transient errors: {number}"
    if number == 1:
        return f"; 1 ended in a transient error: {last}"
    return f"; {number} ended in transient errors, the last: {last}"


def count_of_attempts(attempts: int) -> str:
    """Return a number of attempts in words."""
    return f"{attempts} attempt{'' if attempts == 1 else 's'}"


def timed_out_after(run: RunFacts) -> str:
    """Return how long a wait that timed out was allowed to last, in words."""
    limits = run.policy.limits
    bounds = [limits.max_wait if limits.count_requests else None, limits.deadline]
    least = min((seconds for seconds in bounds if seconds is not None), default=-1)
    asked = limits.asked_wait
    if limits.covers_end and run.attempts and limits.deadline and run.elapsed >= limits.deadline:
        # The last attempt may begin at the end of max_wait, and end later.
        least, asked = limits.deadline, None
    # A window that covers its end has one attempt even if it is empty.
    is_empty = limits.deadline == 0 or not limits.covers_end
    if least < 0 or (least == 0 and is_empty):
        end = f", at the end of {limits.ended_by}" if limits.ended_by else ""
        return f"timed out before its first attempt{end}"
    if limits.ended_by is not None and asked is None:
        had = seconds_text(round(least, 1) if least >= 1 else least)
        return f"timed out at the end of {limits.ended_by}, {had} s into this wait"
    return f"timed out after {seconds_text(least if asked is None else asked)} s"


def seconds_text(seconds: float) -> str:
    """Return seconds without digits that say nothing."""
    return f"{round(seconds, 3):.12g}"


def with_reason(words: str, run: RunFacts) -> str:
    """Return the words of a failure with the service's reason, unless the cause has it, too."""
    attempt = run.answer
    if attempt is None or says(_news_of_reads(run), attempt.reason.text or ""):
        return words
    return _with_message(words, attempt.reason.text or attempt.reason.hidden)


def _with_message(words: str, message: str | None, form: str = "{}: {}") -> str:
    """Return words with the service's message, unless there is none, or they have it."""
    if not message or not message.strip() or says(words, message):
        return words
    text, short = message_text(message).rstrip(". "), cut(message.rstrip(". "))
    # A state that has it is cut earlier.
    is_cut = short.endswith("...") and short in words
    return words.replace(short, text) if is_cut else form.format(words, text)


def _error_in_words(attempt: Attempt) -> str:
    """Return an error with the service's message: `404 Not Found`, `Throttling: Rate exceeded`."""
    code, message = attempt.error_code, attempt.reason.text
    text = attempt.error or "unknown error"
    # The code of a response without a body is its status.
    if code and message and code.isdigit() and text.startswith(code):
        return f"{code} {message_text(message)}{text.removeprefix(code)}"
    return _with_message(text, message or attempt.reason.hidden)


def _state_alone(attempt: Attempt) -> str:
    return attempt.seen or _value_in_words(attempt.observed)


def passed_error_in_words(attempt: Attempt) -> str:
    """Return an error after which the wait went on, with the service's message."""
    code, text = attempt.error_code, attempt.error or ""
    # HTTP status and request id are for errors that ended a wait.
    is_of_the_service = code is not None and text.startswith(f"{code} (")
    return _error_in_words(replace(attempt, error=code) if is_of_the_service else attempt)


def _state_in_words(attempt: Attempt) -> str:
    """Return what an attempt saw, with the service's message."""
    if attempt.error:
        return passed_error_in_words(attempt)
    return _with_message(_state_alone(attempt), attempt.reason.text, "{} ({})")


def why_held_back(run: RunFacts, *, is_named: bool = True) -> str | None:
    """Return why the last answer, a success or a failure, does not count yet; None: it does.

    Args:
        run: the wait.
        is_named: whether the words begin with the state even if it is long.
    """
    held, attempt = run.held_back, run.answer
    if held is None or attempt is None:
        return None
    state = passed_error_in_words(attempt) if attempt.error else _state_alone(attempt)
    if not is_named and len(state) > MAX_NAMED:
        state = "it"
    time = f"{seconds_text(held.seconds)} s"
    if held.may_be_old:
        change = "the call" if run.description.bases else "a change"
        return f"{state} may be from before {change}: it counts after {time}"
    needed = [f"was seen {held.times} times in a row"] if held.times > 1 else []
    needed += [f"has held for {time}"] if held.seconds else []
    return f"{state} counts once it {' and '.join(needed)}"


def _value_in_words(value: object) -> str:
    if value == []:
        return "the response contains no item"
    # Neither true nor false is a state.
    text = None if isinstance(value, bool) else shown(value)
    if text is None and isinstance(value, list):
        return f"{len(value)} values"
    return text or "none that can be shown"


def _what_was_seen(run: RunFacts, ending: Ending) -> str:
    """Return the state that decided, or the last one seen, with the identifiers it was seen of."""
    attempt = run.answer
    match ending:
        case Failed(acceptor=int(index)):
            ids = _ids_in_words(run)
            if attempt is not None and attempt.error:
                return _failed_with(attempt, run)
            text = _matched_in_words(run, index)
            return with_reason(f"{text}{f' ({ids})' if ids else ''}", run)
        case Failed():
            return _failed_with(attempt, run)
    if isinstance(ending, Succeeded):
        return "the rest of the call has succeeded"
    parts = []
    if run.description.goal and run.description.service is None:
        parts.append(f"waited for {cut(run.description.goal)}")
    if attempt is not None:
        parts.append(f"last state seen: {_state_in_words(attempt)}")
    find_unmet = attempt.find_unmet if attempt is not None and run.show_parameters else None
    unmet = None if find_unmet is None else find_unmet()
    held = why_held_back(run, is_named=False)
    parts.extend(filter(None, [held, unmet, _ids_in_words(run, "not reached by ")]))
    unanswered = run.unanswered_since
    if unanswered is not None:
        since = f"{seconds_text(run.elapsed - unanswered)} s"
        which = "the first" if run.attempt is None else "the last"
        parts.append(f"{which} call got no answer in {since}")
    elif run.attempt is None:
        parts.append("no call was made")
    elif attempt is None:
        parts.append("no state was seen")
    return "; ".join(parts)


def _matched_in_words(run: RunFacts, index: int) -> str:
    """Return what the acceptor that decided has seen."""
    attempt, words = run.answer, run.description.words
    # The cases of a condition are in words.
    text = run.description.acceptors[index].text
    said, tells_state = words[index] if words else (text.partition(" when ")[2] or text, True)
    seen = None if attempt is None or (tells_state and not attempt.reported) else attempt.seen
    if said:
        return f"{said}: {seen}" if seen and f"'{seen}'" not in said else said
    return f"last state seen: {seen}" if seen else f"acceptor {index} has seen a failure"


def _failed_with(attempt: Attempt | None, run: RunFacts) -> str:
    error = "an unknown error" if attempt is None else _error_in_words(attempt)
    if attempt is not None and attempt.other_call is not None:
        return error  # It names the call that failed.
    return f"{run.description.operation} failed with {error}"


def _ids_in_words(run: RunFacts, prefix: str = "") -> str:
    """Return the identifiers that failed, or had not reached the state; empty for a single one."""
    ids, missing, asked, pending = run.unfinished
    if not ids or (len(asked) == 1 and not missing):
        return ""
    if not run.show_parameters:
        return f"{prefix}{len(ids)} of {len(asked)} identifiers"
    # As in the label: cut alone, one could not be told from the others.
    short = dict(zip(asked, short_arns(asked), strict=True))
    present = [short[each] for each in ids if each not in missing]
    parts = [f"{prefix}{listed(present)}"] if present else []
    if missing:
        parts.append(f"missing: {listed([short[each] for each in missing])}")
    if pending:
        parts.append(f"pending: {listed([short[each] for each in pending])}")
    return "; ".join(parts)


def advice_after(run: RunFacts, ending: Ending) -> tuple[str, ...]:
    """Return what the caller can do about an error, in parts; empty if there is nothing to say."""
    attempt = run.answer
    if not isinstance(ending, Failed) or attempt is None:
        return ()
    facts = attempt.facts
    if facts.missing and run.attempts == 1 and not run.policy.endings.missing_ok_for:
        option = Keyword("missing_ok_for=60", "missing_ok_for", 60)
        return " If the resource was created a moment ago, ", option, " retries for 60 s."
    if run.description.denied_when_gone and attempt.error_code in _DENIED:
        operation = run.description.operation
        is_gone = "also answers this when the resource is gone: the deletion may have succeeded."
        return (f" {operation} {is_gone}",)
    if ending.acceptor is not None or not facts.transient:
        return ()
    option = Keyword('retry_transient="answered"', "retry_transient", "answered")
    if facts.unconnected:
        option = Keyword("retry_transient=True", "retry_transient", value=True)
    return " ", option, " retries such errors."


def _what_happened(run: RunFacts, ending: Ending) -> str:
    match ending:
        case Failed() | Succeeded():
            return "failed"
        case TimedOut():
            return timed_out_after(run)
        case AttemptsUsedUp():
            return f"used up its {count_of_attempts(run.attempts)}"
        case _:
            return f"was cancelled after {seconds_text(run.elapsed)} s"


# --- what a call refused of several things, whatever comes of the wait for the rest --------------


@dataclass(frozen=True, slots=True)
class RefusedPart:
    """The items that the answer of a call refuses; not empty."""

    items: Sequence[Mapping[str, Any]]
    """Each with `id`, `code` and `message`, None where the answer has none."""

    @classmethod
    def of(cls, call: Mapping[str, Any] | None) -> RefusedPart | None:
        """Return what a call refuses; None if that is nothing."""
        items = (call or {}).get("refused")
        return cls(items) if items else None

    @property
    def ids(self) -> list[str]:
        """What names the items."""
        return [each["id"] for each in self.items if isinstance(each["id"], str)]

    @property
    def service_message(self) -> str | None:
        """The reason for the first that has one."""
        return next(
            (message_text(str(each["message"])) for each in self.items if each["message"]), None
        )

    def text(self, *, with_ids: bool) -> str:
        """Return the items with their codes and messages, in words."""
        short = dict(zip(self.ids, short_arns(self.ids), strict=True))
        texts = []
        for each in self.items[:MAX_ITEMS]:
            name = short.get(each["id"], "an item") if with_ids else "an item"
            said = filter(None, (each["code"], each["message"]))
            reason = ": ".join(message_text(str(text)) for text in said)
            texts.append(f"{name} ({reason})" if reason else name)
        more = len(self.items) - len(texts)
        return "; ".join(texts) + (f" and {more} more" if more > 0 else "")

    def added_to(self, error: WaiterError, kind: type[ErrorT], *, with_ids: bool) -> ErrorT:
        """Return an error that names the refused items, too."""
        text = self.text(with_ids=with_ids).rstrip(". ")
        found = error.extended(f"The call refused {text}.", kind)
        found.failed_ids = list(dict.fromkeys([*self.ids, *error.failed_ids]))
        found.service_message = error.service_message or self.service_message
        return found
