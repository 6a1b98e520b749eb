"""What earlier decisions mean to the findings of a later run, and what the run means to them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from gjk3d.clash.decisions.triage import Issue, Mark, Triage, now
from gjk3d.clash.detection.clashes import STATUSES, Clash, Clashes
from gjk3d.clash.report.baseline import within
from gjk3d.units import conversion
from gjk3d.wording import number, with_unit

_BY_RUNS = "gjk3d"  #: who says so where a run found it out
_DEEPER = 0.01  #: of the depth that was approved: so much more is no other finding


def take_up(clashes: Clashes, earlier: Collection[str], triage: Triage | None, unit: str | None) -> None:
    """Let what was found count as an earlier report, and what was decided of it, say.

    Parameters
    ----------
    clashes : Clashes
        As they were found; statuses and notes are changed.
    known : collection of str
        The ids of what the earlier report has.
    triage : Triage or None
        What was decided.
    unit : str or None
        The unit of their lengths.
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
    """Return a finding of a later run as what was decided lets it count.

    One that is approved is "ignored", unless it is deeper now, at other times of a motion, or in a unit that cannot be
    compared; one that is active or reviewed is "active"; one that was resolved, and is there all the same, is "new".

    Parameters
    ----------
    triage : Triage
        What was decided.
    clash : Clash
        As it was found.
    unit : str or None
        The unit of its lengths.
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
        return _noted(clash, "new", f"marked as resolved{by}, and it is there again")
    return clash


def resolved_issues(triage: Triage, present: Iterable[str], checked: Callable[[str, str], bool]) -> list[Clash]:
    """Return the issues whose findings are there no more, as resolved ones: open ones, and what people said is mended.

    Parameters
    ----------
    triage : Triage
        What was decided.
    here : iterable of str
        The ids of what was found, and of what the baseline tells of.
    checked : callable
        Tells of two names whether that pair was looked at this time, or a part of it is gone.
    """
    ids = frozenset(present)
    return [
        Clash(issue.id, issue.kind, 0, "resolved", issue.a, issue.b, "", "", shape_a="", shape_b="", method="")
        for issue in triage.issues.values()
        if issue.id not in ids and _is_awaited(issue) and checked(issue.a, issue.b)
    ]


def _is_awaited(issue: Issue) -> bool:
    """Tell whether a run has to say that it is gone: it was open, or people marked it as resolved and no run yet."""
    state = issue.state
    return issue.is_open or (state is not None and state.value == "resolved" and state.by != _BY_RUNS)


def updated(triage: Triage, clashes: Clashes) -> Triage:
    """Return it with what a run found out: what is new again though it was done with, and what is gone.

    Parameters
    ----------
    triage : Triage
        What was decided.
    clashes : Clashes
        Of the run that took it up.
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
        return _noted(clash, "new", f"approved{by} at other times of the motion than it is there now")
    if clash.distance is None:
        return _noted(clash, "ignored", f"approved{by}")
    if state.distance is None:
        return _noted(clash, "ignored", f"approved{by}, however deep")
    approval = f"approved{by} at {with_unit(number(state.distance), state.unit)}"
    factor = 1.0 if (state.unit or None) == unit else conversion(state.unit, unit or "")
    if factor is None:
        return _noted(clash, "new", f"{approval}, which cannot be told in {unit or 'no unit'}: approve it again")
    if _is_more(-clash.distance, -state.distance * factor, clash):
        return _noted(
            clash, "new", f"{approval}, and {'it is deeper' if clash.distance < 0.0 else 'they are nearer'} now"
        )
    # a pin that is pressed in harder goes as far to be free: how far it must go does not tell how far it reaches in
    into, was_into = clash.penetration, state.penetration
    if into is not None and was_into is not None and _is_more(into, was_into * factor, clash):
        reached = with_unit(number(was_into), state.unit)
        return _noted(clash, "new", f"approved{by} where one reached {reached} into the other, and it is deeper now")
    return _noted(clash, "ignored", f"approved{by}")


def _is_more(depth: float, was: float, clash: Clash) -> bool:
    return depth > was + max(_DEEPER * abs(was), clash.tolerance or 0.0)


def _noted(clash: Clash, status: str, words: str) -> Clash:
    return replace(clash, status=status, note=f"{clash.note}; {words}".removeprefix("; "))
