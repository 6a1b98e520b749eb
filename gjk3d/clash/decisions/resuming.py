"""The effect of earlier reports and decisions on the findings of a later run, and the update of decisions by a run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from gjk3d.clash.decisions.triage import Issue, Mark, Triage, now
from gjk3d.clash.detection.clashes import STATUSES, Clash, Clashes
from gjk3d.clash.report.baseline import within
from gjk3d.units import conversion
from gjk3d.wording import number, with_unit

_BY_RUNS = "gjk3d"  #: the author of a state that a run sets
_DEEPER = 0.01  #: an approval is valid up to this relative growth of the depth


def take_up(clashes: Clashes, earlier: Collection[str], triage: Triage | None, unit: str | None) -> None:
    """Set the statuses and notes of findings from an earlier report and from decisions.

    Parameters
    ----------
    clashes : Clashes
        The findings of the run. Their statuses and notes are changed.
    earlier : collection of str
        The ids of the findings of the earlier report.
    triage : Triage or None
        The decisions.
    unit : str or None
        The unit of the findings.
    """
    if not earlier and triage is None:
        return
    status, note = clashes.columns["status"], clashes.columns["note"]
    for k, ident in enumerate(clashes.ids()):
        if ident in earlier and status[k] == STATUSES.index("new"):
            status[k] = STATUSES.index("active")
        if triage is not None and ident in triage.issues:
            clash = taken_up(triage, clashes[k], unit)
            status[k], note[k] = STATUSES.index(clash.status), clash.note


def taken_up(triage: Triage, clash: Clash, unit: str | None) -> Clash:
    """Return a finding of a later run with its status from earlier decisions.

    An approved finding is "ignored". It is "new" if it is deeper now, at other times of a motion, or in a unit that
    cannot be compared. An active or reviewed finding is "active". A resolved finding that appears again is "new".

    Parameters
    ----------
    triage : Triage
        The decisions.
    clash : Clash
        The finding of the run.
    unit : str or None
        The unit of the finding.
    """
    issue = triage.issues.get(clash.id)
    if issue is None or issue.state is None or clash.status == "ignored":
        return clash
    state, by = issue.state, f" by {issue.state.by}" if issue.state.by else ""
    if state.value in ("active", "reviewed"):
        return replace(clash, status="active")
    if state.value == "approved":
        return _approved(clash, state, unit, by)
    if state.value == "resolved":
        return _noted(clash, "new", f"marked as resolved{by}, but reported again")
    return clash


def resolved_issues(triage: Triage, present: Iterable[str], checked: Callable[[str, str], bool]) -> list[Clash]:
    """Return resolved findings for open issues, and issues marked as resolved, that a run did not report.

    Parameters
    ----------
    triage : Triage
        The decisions.
    present : iterable of str
        The ids of the findings of the run and of the baseline.
    checked : callable
        A function of two names that returns whether the run checked the pair, or one of its parts is missing.
    """
    ids = frozenset(present)
    return [
        Clash(issue.id, issue.kind, 0, "resolved", issue.a, issue.b, "", "", shape_a="", shape_b="", method="")
        for issue in triage.issues.values()
        if issue.id not in ids and _is_awaited(issue) and checked(issue.a, issue.b)
    ]


def _is_awaited(issue: Issue) -> bool:
    """Return whether a run still has to confirm that the issue is resolved."""
    state = issue.state
    return issue.is_open or (state is not None and state.value == "resolved" and state.by != _BY_RUNS)


def updated(triage: Triage, clashes: Clashes) -> Triage:
    """Return the decisions after a run. Closed issues that were reported again are new, and missing ones are resolved.

    Parameters
    ----------
    triage : Triage
        The decisions before the run.
    clashes : Clashes
        The findings of the run.
    """
    issues = dict(triage.issues)
    for ident, code in zip(clashes.ids(), clashes.columns["status"].tolist(), strict=True):
        issue, status = issues.get(ident), STATUSES[code]
        state = None if issue is None else issue.state
        if issue is None or state is None or status not in ("new", "resolved"):
            continue
        if _is_awaited(issue) if status == "resolved" else not issue.is_open:
            issues[ident] = replace(issue, state=Mark(max(now(), state.at), _BY_RUNS, status))
    return Triage(issues)


def _approved(clash: Clash, state: Mark, unit: str | None, by: str) -> Clash:
    if not within(clash, state.intervals):
        return _noted(clash, "new", f"approved{by} at other times of the motion")
    if clash.distance is None:
        return _noted(clash, "ignored", f"approved{by}")
    if state.distance is None:
        return _noted(clash, "ignored", f"approved{by} at any depth")
    approval = f"approved{by} at {with_unit(number(state.distance), state.unit)}"
    factor = 1.0 if (state.unit or None) == unit else conversion(state.unit, unit or "")
    if factor is None:
        return _noted(clash, "new", f"{approval}, which cannot be converted to {unit or 'no unit'}: approve it again")
    if _is_more(-clash.distance, -state.distance * factor, clash):
        return _noted(
            clash, "new", f"{approval}, and {'it is deeper' if clash.distance < 0.0 else 'they are nearer'} now"
        )
    # a pin that is pressed in harder is freed by the same translation, so the penetration is compared as well
    into, was_into = clash.penetration, state.penetration
    if into is not None and was_into is not None and _is_more(into, was_into * factor, clash):
        reached = with_unit(number(was_into), state.unit)
        return _noted(clash, "new", f"approved{by} at the penetration {reached}, and it is deeper now")
    return _noted(clash, "ignored", f"approved{by}")


def _is_more(depth: float, was: float, clash: Clash) -> bool:
    return depth > was + max(_DEEPER * abs(was), clash.tolerance or 0.0)


def _noted(clash: Clash, status: str, words: str) -> Clash:
    return replace(clash, status=status, note=f"{clash.note}; {words}".removeprefix("; "))
