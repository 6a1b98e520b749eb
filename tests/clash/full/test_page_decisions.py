"""Decisions made in the page: set by mouse and keys, saved, merged, and read back by the next run."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from browser import Browser, program
from damaged_decisions import damaged
from reports import ENDING, EVIL, many, three_cubes

from gjk3d.clash import Triage
from gjk3d.clash.page import write_page
from gjk3d.clash.triage import parse_triage, time_of
from tests.clash import messages

pytestmark = pytest.mark.skipif(program() is None, reason="chromium is not on PATH: apt-get install chromium")


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("profile"), size=(1400, 900))
    yield browser
    browser.close()


@pytest.fixture
def opened(chromium, tmp_path):
    chromium.complaints.clear()
    chromium.media(prefers_color_scheme="light", prefers_reduced_motion="reduce")

    def open_page(report, name="week.html"):
        chromium.open(write_page(report, tmp_path / name))
        return chromium

    yield open_page
    saved(chromium)  # unsaved changes would block leaving the page
    chromium.evaluate("localStorage.clear()")
    assert chromium.complaints == []


def saved(browser):
    """Press the save button; return the text of the file that the browser received."""
    browser.evaluate("""(() => { window.given = []; const make = URL.createObjectURL;
        URL.createObjectURL = (blob) => { window.given.push(blob); return make.call(URL, blob); };
        document.querySelector('#save').click(); URL.createObjectURL = make; })()""")
    return browser.evaluate("window.given.length ? window.given[0].text() : ''")


def give(browser, *texts):
    """Pass files to the page as if the user had selected them."""
    files = ", ".join(f"new File([{json.dumps(text)}], 'other.triage.json')" for text in texts)
    browser.evaluate(f"""(() => {{ const box = new DataTransfer(), input = document.querySelector('#merge-file');
        document.querySelector('#saved').textContent = '';
        for (const file of [{files}]) box.items.add(file);
        input.files = box.files; input.dispatchEvent(new Event('change')); }})()""")
    browser.wait("document.querySelector('#saved').textContent !== ''")


def write(browser, selector, text):
    browser.evaluate(f"""(() => {{ const field = document.querySelector({json.dumps(selector)});
        field.value = {json.dumps(text)}; field.dispatchEvent(new Event('change')); }})()""")


def show_states(browser, name):
    browser.evaluate(f"""(() => {{ const field = document.querySelector('#status');
        field.value = {json.dumps(name)}; field.dispatchEvent(new Event('input')); }})()""")


def press(browser, key, **more):
    event = json.dumps({"key": key, **more})
    browser.evaluate(f"document.dispatchEvent(new KeyboardEvent('keydown', {event}))")


def chosen(browser):
    """Return the index of the selected finding, and the indices that the table shows."""
    return browser.evaluate("[clashTable.selected, clashTable.shown]")


def test_edits_survive_saving_and_reopening(opened):
    report = three_cubes()
    browser = opened(report)
    show_states(browser, "all")
    browser.click("#row-0")
    write(browser, "#author", "ann")
    browser.click("[data-state=approved]")
    assert browser.evaluate("document.querySelector('#save').textContent") == "save 1 change"
    write(browser, "#assignee", "bob")
    browser.evaluate("document.querySelector('#comment').focus()")
    browser.type(f"{EVIL} pressed in")
    browser.evaluate("document.querySelector('#triage .small').click()")
    text = saved(browser)
    triage = parse_triage(text.encode(), "the page")
    issue = triage.issues[report.clashes[0].id]
    assert (issue.kind, issue.a, issue.b) == ("hard", "frame", "press/ram")
    assert (issue.state.value, issue.state.by, issue.state.distance, issue.state.unit) == (
        "approved",
        "ann",
        -0.5,
        "mm",
    )
    assert (issue.assignee.value, issue.assignee.by) == ("bob", "ann")
    assert [(item.by, item.text) for item in issue.comments] == [("ann", f"{EVIL} pressed in")]
    assert browser.evaluate("document.querySelector('#save').textContent") == "save decisions"
    again = opened(three_cubes(triage=triage), "again.html")
    # an approved finding is not open and has its own state filter
    assert again.state("shown") == "1"
    show_states(again, "approved")
    again.click("#row-0")
    assert again.evaluate("document.querySelector('[data-state=approved]').getAttribute('aria-pressed')") == "true"
    assert again.evaluate("document.querySelector('.said bdi').textContent") == f"{EVIL} pressed in"
    assert again.evaluate("document.querySelectorAll('#triage script').length") == 0
    assert parse_triage(saved(again).encode(), "again") == triage


def test_keys_set_states_but_not_inside_fields(opened):
    browser = opened(three_cubes())
    show_states(browser, "all")
    browser.key("ArrowDown")
    for key, state in zip("12345", ("new", "active", "reviewed", "approved", "resolved"), strict=True):
        press(browser, key)
        assert browser.evaluate("document.querySelector('#triage [aria-pressed=true]').textContent") == state
    browser.evaluate("document.querySelector('#comment').focus()")
    browser.evaluate(
        "document.querySelector('#comment').dispatchEvent(new KeyboardEvent('keydown', { key: '1', bubbles: true }))"
    )
    assert browser.evaluate("document.querySelector('#triage [aria-pressed=true]').textContent") == "resolved"
    assert chosen(browser) == [0, [0, 1]]
    assert "resolved" in browser.evaluate("document.querySelector('#row-0').innerText")


def test_decided_row_stays_and_n_selects_next_open_row(opened):
    report = many(6, side=2)
    browser = opened(report)
    assert chosen(browser) == [-1, [0, 1, 2, 3, 4]]  # the touch is not open
    browser.key("ArrowDown")
    browser.key("ArrowDown")
    press(browser, "4")
    assert chosen(browser) == [1, [0, 1, 2, 3, 4]]
    assert report.clashes[1].id in browser.evaluate("document.querySelector('#detail').textContent")
    assert "approved" in browser.evaluate("document.querySelector('#row-1').innerText")
    press(browser, "n")
    assert chosen(browser) == [2, [0, 1, 2, 3, 4]]
    browser.key("ArrowUp")
    browser.evaluate("[...document.querySelectorAll('#triage button')].find((b) => b.textContent === 'next').click()")
    assert chosen(browser)[0] == 2
    show_states(browser, "open")  # a new filter hides decided rows
    assert chosen(browser) == [2, [0, 2, 3, 4]]
    show_states(browser, "approved")
    assert chosen(browser)[1] == [1]


def test_touches_are_listed_on_request_and_can_be_opened(opened):
    report = many(6, side=2)
    browser = opened(report)
    count = "document.querySelector('#status').selectedOptions[0].textContent"
    assert browser.evaluate(count) == "open (5)"
    browser.click("[data-kind=touch]")
    assert chosen(browser)[1] == [5]
    browser.key("ArrowDown")
    press(browser, "2")
    assert browser.evaluate(count) == "open (6)"
    browser.click("#clear")
    assert chosen(browser)[1] == [0, 1, 2, 3, 4, 5]


def test_marked_rows_are_decided_and_undone_together(opened):
    report = many(1200, side=4)
    browser = opened(report)
    states = "[0, 1, 2, 3].map((k) => gjk3d.data.rows[k].state)"
    marked = "[...clashTable.marked]"
    browser.key("ArrowDown")
    for _ in range(2):
        press(browser, "ArrowDown", shiftKey=True)
    assert browser.evaluate(marked) == [0, 1, 2]
    press(browser, " ")  # the third row is unmarked again
    assert browser.evaluate("document.querySelector('#bulk b').textContent") == "2 marked"
    press(browser, "4")
    browser.wait(f"{states}.join() === 'approved,approved,new,new'")
    browser.wait("clashTable.marked.size === 0")
    assert browser.evaluate("document.querySelector('#bulk').hidden")
    assert browser.evaluate("document.querySelector('#toast').textContent") == "2 findings: approved"
    assert browser.evaluate("document.querySelector('#undo').textContent") == "undo: approved, 2 findings"
    press(browser, "u")
    assert browser.evaluate(states) == ["new"] * 4
    assert browser.evaluate(marked) == [0, 1]  # undo restores both marks
    press(browser, "2")
    browser.wait(f"{states}.join() === 'active,active,new,new'")
    press(browser, "u")
    browser.key("Escape")
    for place in (1, 3):
        browser.click(f"#row-{place} .mark")
    browser.click("#bulk [data-state=reviewed]")
    browser.wait(f"{states}.join() === 'new,reviewed,new,reviewed'")
    browser.click("#mark-all")  # all rows of the table, also those whose numbers are not unpacked yet
    write(browser, "#assignees", "bob")
    browser.click("#bulk [data-state=approved]")
    browser.wait("gjk3d.data.rows.filter((row) => row.state === 'approved').length === 1000")
    issues = parse_triage(saved(browser).encode(), "the page").issues
    assert {issue.assignee.value for issue in issues.values()} == {"bob"}
    for clash in report.clashes:
        if clash.kind not in ("touch", "unchecked"):
            assert issues[clash.id].state.distance == clash.distance  # the approval stores the exact distance


def test_marks_follow_filter_and_escape_clears_them(opened):
    browser = opened(many(6, side=2))
    browser.click("#mark-all")
    browser.click("[data-kind=hard]")
    assert browser.evaluate("[...clashTable.marked]") == [0]
    browser.key("Escape")
    assert browser.evaluate("clashTable.marked.size") == 0


def test_comment_draft_belongs_to_its_row(opened):
    browser = opened(three_cubes())
    browser.click("#row-0")
    browser.click("#comment")
    browser.type("too deep")
    browser.click("#row-1")
    assert browser.evaluate("document.querySelector('#comment').value") == ""
    assert "rank 2" in browser.evaluate("document.querySelector('#comment').placeholder")
    browser.click("#row-0")
    assert browser.evaluate("document.querySelector('#comment').value") == "too deep"
    browser.click("#triage .small")
    (issue,) = json.loads(saved(browser))["issues"]
    assert issue["id"] == three_cubes().clashes[0].id


def test_phone_shows_picture_of_selected_row(opened, chromium):
    browser = opened(many(60, side=4))
    try:
        chromium.resize(390, 844)
        browser.evaluate("document.querySelector('#list').scrollIntoView()")
        browser.settle()  # wait until the rows are drawn at their new places
        assert browser.evaluate("document.querySelector('#view').getBoundingClientRect().bottom") < 100
        browser.click("#row-3")
        top, bottom = browser.evaluate(
            "(({ top, bottom }) => [top, bottom])(document.querySelector('#view').getBoundingClientRect())"
        )
        assert -1 < top < bottom <= 844
        cells = "[...document.querySelectorAll('#row-3 .far div, #row-3 .kind')]"
        assert browser.evaluate(f"{cells}.every((e) => e.clientWidth >= e.scrollWidth)")
    finally:
        chromium.resize(1400, 900)


def test_decisions_are_undone_in_reverse_order(opened):
    report = many(6, side=2)
    browser = opened(report)
    shown = "[document.querySelector('#undo').hidden, document.querySelector('#undo').textContent]"
    press(browser, "u")  # nothing to undo yet
    assert browser.evaluate(shown) == [True, ""]
    browser.key("ArrowDown")
    press(browser, "2")
    press(browser, "4")
    press(browser, "n")
    press(browser, "5")
    assert chosen(browser) == [1, [0, 1, 2, 3, 4]]
    assert browser.evaluate(shown) == [False, messages.UNDO.format("resolved", 2)]
    press(browser, "u", repeat=True)
    assert chosen(browser) == [1, [0, 1, 2, 3, 4]]
    browser.click("#undo")
    assert browser.evaluate("gjk3d.data.rows[1].state") == "new"
    press(browser, "u")
    assert chosen(browser) == [0, [0, 1, 2, 3, 4]]
    assert browser.evaluate("clashTable.selected >= 0 && gjk3d.data.rows[0].state") == "active"
    browser.evaluate("document.querySelector('#undo').focus()")
    browser.click("#undo")
    assert browser.evaluate(shown)[0]
    assert browser.evaluate("document.activeElement.id") == "scroll"  # the focus must not be lost
    assert saved(browser) == ""  # no decision is left


def test_save_button_counts_unsaved_changes(opened):
    browser = opened(many(6, side=2))
    save = "document.querySelector('#save').textContent"
    browser.key("ArrowDown")
    for key in "2435":
        press(browser, key)
    assert browser.evaluate(save) == "save 1 change"
    browser.key("ArrowDown")
    press(browser, "4")
    assert browser.evaluate(save) == "save 2 changes"
    press(browser, "u")
    assert browser.evaluate(save) == "save 1 change"
    (issue,) = json.loads(saved(browser))["issues"]
    assert issue["state"]["value"] == "resolved"
    press(browser, "u")  # the file contains this decision, so undo replaces it with a later one
    assert browser.evaluate(save) == "save 1 change"
    (issue,) = json.loads(saved(browser))["issues"]
    assert issue["state"]["value"] == "reviewed"


def test_keys_do_not_decide_hidden_findings(opened):
    browser = opened(many(6, side=2))
    browser.key("ArrowDown")
    show_states(browser, "approved")
    assert chosen(browser) == [0, []]
    press(browser, "4")
    press(browser, " ")
    assert browser.evaluate("[gjk3d.data.rows[0].state, clashTable.marked.size]") == ["new", 0]
    assert messages.HIDDEN.format(1) in browser.evaluate("document.querySelector('#toast').textContent")
    browser.click("#detail [data-state=approved]")
    assert browser.evaluate("gjk3d.data.rows[0].state") == "approved"


def test_comment_is_undone_or_deleted(opened):
    report = three_cubes()
    browser = opened(report)
    comments = "document.querySelectorAll('.said').length"
    browser.click("#row-0")
    for text in ("wrong row", "too deep"):
        press(browser, "c")
        assert browser.evaluate("document.activeElement.id") == "comment"
        browser.type(text)
        browser.evaluate(
            "document.querySelector('#comment').dispatchEvent("
            "new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true }))"
        )
        assert browser.evaluate("document.activeElement.id") == "scroll"
    assert browser.evaluate(comments) == 2
    browser.click(".said .erase")
    assert browser.evaluate("document.querySelector('.said bdi').textContent") == "too deep"
    text = saved(browser)
    assert [comment["text"] for issue in json.loads(text)["issues"] for comment in issue["comments"]] == ["too deep"]
    press(browser, "u")  # the file contains the comment, so undo replaces it with one without text
    assert browser.evaluate(comments) == 0
    assert browser.evaluate("document.querySelector('#row-0 .sort small').textContent") == "new"
    deleted = parse_triage(saved(browser).encode(), "the page")
    merged = parse_triage(text.encode(), "the page").merged(deleted)
    assert [comment.text for comment in merged.issues[report.clashes[0].id].comments] == [""]


def test_rows_do_not_move_when_one_is_marked(opened, chromium):
    browser = opened(many(60, side=4))
    top = "document.querySelector('#row-2').getBoundingClientRect().top"
    table = "document.querySelector('#scroll').clientHeight"
    try:
        for width in (1280, 390):
            chromium.resize(width, 844)
            browser.evaluate("document.querySelector('#filters').scrollIntoView()")
            before = browser.evaluate(f"[{top}, {table}]")
            browser.click("#row-1 .mark")
            assert browser.evaluate(f"[{top}, {table}]") == before
            browser.click("#bulk [data-state=reviewed]")
            browser.wait("clashTable.marked.size === 0")
            assert browser.evaluate(f"[{top}, {table}]") == before
            place = browser.evaluate("scrollY")
            browser.click("#undo")
            assert browser.evaluate(f"[{top}, {table}, scrollY]") == [*before, place]
            browser.key("Escape")
    finally:
        chromium.resize(1400, 900)


def test_buttons_are_large_enough_for_fingers(opened, chromium):
    browser = opened(three_cubes())
    try:
        chromium.resize(390, 844)
        browser.click("#row-0")
        small = "[...document.querySelectorAll('#detail button, #filters :is(button, select, summary)')]"
        heights = browser.evaluate(f"{small}.filter((e) => e.clientWidth).map((e) => e.getBoundingClientRect().height)")
        assert min(heights) >= 32
    finally:
        chromium.resize(1400, 900)


def test_the_help_stays_closed(opened):
    browser = opened(three_cubes())
    closed = "document.querySelector('#help').hidden"
    browser.click("#close-help")
    assert browser.evaluate(closed)
    again = opened(three_cubes(), "again.html")
    assert again.evaluate(closed)
    again.click("#ask-help")
    assert not again.evaluate(closed)


def test_undo_keeps_later_decisions_of_others(opened):
    report = many(6, side=2)
    browser = opened(report)
    browser.key("ArrowDown")
    press(browser, "4")
    soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    late = re.sub(r'"at": "[^"]*"', f'"at": "{soon}"', saved(browser))
    give(browser, late.replace("approved", "resolved"))
    press(browser, "u")
    assert browser.evaluate("gjk3d.data.rows[0].state") == "resolved"
    assert browser.evaluate("document.querySelector('#undo').hidden")


def test_repeated_keys_and_double_clicks_decide_once(opened):
    browser = opened(many(6, side=2))
    browser.key("ArrowDown")
    press(browser, "4")
    press(browser, "n")
    press(browser, "4", repeat=True)
    assert browser.evaluate("gjk3d.data.rows[1].state") == "new"
    browser.evaluate("""for (const detail of [1, 2])
        document.querySelector('[data-state=approved]').dispatchEvent(new MouseEvent('click', { detail }))""")
    assert len(json.loads(saved(browser))["issues"]) == 2


def test_comment_draft_survives_a_state_change(opened):
    browser = opened(three_cubes())
    browser.click("#row-0")
    browser.click("#comment")
    browser.type("pressed in")
    browser.click("[data-state=approved]")
    assert chosen(browser) == [0, [0, 1]]
    assert browser.evaluate("document.querySelector('#comment').value") == "pressed in"
    browser.click("#triage .small")
    assert chosen(browser) == [0, [0, 1]]
    assert browser.evaluate("document.querySelector('#comment').value") == ""
    (issue,) = json.loads(saved(browser))["issues"]
    assert [comment["text"] for comment in issue["comments"]] == ["pressed in"]


def test_merge_hides_decided_rows_except_selected_one(opened):
    report = many(6, side=2)
    browser = opened(report)
    browser.key("ArrowDown")
    theirs = Triage()
    for clash in report.clashes[:2]:
        theirs = theirs.marked(clash, state="approved", by="bob")
    give(browser, json.dumps(theirs.to_dict()))
    assert chosen(browser) == [0, [0, 2, 3, 4]]
    assert browser.evaluate("document.querySelector('#triage [aria-pressed=true]').textContent") == "approved"


def test_comment_draft_survives_assignee_and_state(opened):
    browser = opened(three_cubes())
    browser.click("#row-0")
    browser.click("#assignee")
    browser.type("emil")
    browser.click("#comment")
    browser.type("move it by 4 mm")
    assert browser.evaluate("document.querySelector('#comment').value") == "move it by 4 mm"
    assert browser.evaluate("document.querySelector('#triage [aria-pressed=true]').textContent") == "new"
    browser.click("[data-state=active]")
    assert browser.evaluate("document.querySelector('#comment').value") == "move it by 4 mm"
    browser.click("#triage .small")
    assert browser.evaluate("document.querySelector('#comment').value") == ""
    (issue,) = json.loads(saved(browser))["issues"]
    assert (issue["assignee"]["value"], issue["state"]["value"]) == ("emil", "active")
    assert [comment["text"] for comment in issue["comments"]] == ["move it by 4 mm"]


def test_author_is_requested_once_and_applied_to_earlier_edits(opened):
    browser = opened(three_cubes())
    browser.click("#row-0")
    assert browser.evaluate("document.querySelectorAll('#ask').length") == 0
    browser.click("[data-state=active]")
    browser.click("#comment")
    browser.type("move it")
    browser.click("#triage button.small")
    assert browser.evaluate("document.querySelectorAll('#ask #author').length") == 1
    assert browser.evaluate("document.activeElement.id") != "author"  # the name may be entered later
    assert browser.evaluate("document.querySelector('#triage small').textContent").startswith(f"{messages.NO_NAME}, ")
    browser.key("Escape")
    browser.click("#row-1")
    assert browser.evaluate("document.querySelectorAll('#ask #author').length") == 1
    browser.click("#row-0")
    browser.click("#author")
    browser.type("ann")
    browser.click("#comment")
    browser.type("by 4 mm")
    assert browser.evaluate("[document.activeElement.id, document.activeElement.value]") == ["comment", "by 4 mm"]
    smalls = "[...document.querySelectorAll('#triage small')].map((item) => item.textContent.slice(0, 5))"
    assert browser.evaluate(smalls) == ["ann, ", "ann, "]
    browser.click("#triage button.small")
    assert browser.evaluate("document.querySelectorAll('#ask').length") == 0
    text = saved(browser)
    assert "note" not in json.loads(text)
    (issue,) = parse_triage(text.encode(), "the page").issues.values()
    assert [issue.state.by, *(item.by for item in issue.comments)] == ["ann"] * 3
    again = opened(three_cubes(), "again.html")
    again.click("#row-0")
    again.click("[data-state=active]")
    assert again.evaluate("document.querySelectorAll('#ask').length") == 0
    assert json.loads(saved(again))["issues"][0]["state"]["by"] == "ann"


def test_file_notes_missing_author(opened):
    report = three_cubes()
    browser = opened(three_cubes(triage=Triage().commented(report.clashes[1], "why?", by="bob")))
    browser.click("#row-0")
    browser.click("[data-state=active]")
    text = saved(browser)
    assert json.loads(text)["note"] == messages.NO_NAME_IN_FILE
    assert browser.evaluate("document.querySelector('#saved').textContent").endswith(f". {messages.NO_NAME_IN_FILE}")
    issue = parse_triage(text.encode(), "the page").issues[report.clashes[0].id]
    assert (issue.state.value, issue.state.by) == ("active", "")


def test_merge_equals_merge_in_python(opened):
    report = three_cubes()
    first, second = report.clashes
    early, late = "2026-05-04T08:00:00.000Z", "2026-05-04T09:00:00.000Z"
    ours = Triage().marked(first, state="active", by="ann", at=late).commented(first, "why?", by="ann", at=early)
    theirs = (
        Triage()
        .marked(first, state="resolved", by="bob", at=early)
        .marked(second, state="reviewed", by="bob", at=early)
    )
    theirs = theirs.commented(first, ENDING, by="bob", at=late)
    browser = opened(three_cubes(triage=ours))
    give(browser, json.dumps(theirs.to_dict()))
    merged = parse_triage(saved(browser).encode(), "the page")
    assert merged == ours.merged(theirs)
    assert merged.issues[first.id].state.value == "active"
    assert [item.by for item in merged.issues[first.id].comments] == ["ann", "bob"]


def test_page_rejects_files_that_python_rejects(opened):
    browser = opened(three_cubes())
    for text, _ in [("", ""), *damaged()]:
        give(browser, text)
        message = browser.evaluate("document.querySelector('#saved').textContent")
        assert re.match(messages.REFUSED_IN_PAGE, message), text
        assert saved(browser) == ""  # no decision was taken over


def test_future_times_are_rejected_with_remedy(opened):
    report, clock = three_cubes(), datetime.now(UTC)
    browser = opened(report)
    for hours, taken in ((25, False), (14, True)):
        late = (clock + timedelta(hours=hours)).isoformat()
        give(browser, json.dumps(Triage().marked(report.clashes[0], state="active", by="ann", at=late).to_dict()))
        message = browser.evaluate("document.querySelector('#saved').textContent")
        assert all(words in message for words in messages.AHEAD) != taken
        assert browser.evaluate("gjk3d.data.rows[0].state") == ("active" if taken else "new")


def test_times_are_converted_to_utc_as_in_python(opened):
    report = three_cubes()
    times = [
        "2026-05-04T10:00:00+02:00",
        "2026-05-04T08:00:00.5",
        " 2026-05-04T08:00:00.1234567+0530 ",
        "2026-05-04T08:00:00-03:15",
    ]
    triage = Triage()
    for k, time in enumerate(times):
        triage = triage.commented(report.clashes[0], str(k), by="ann", at=time)
    browser = opened(report)
    give(browser, json.dumps(triage.to_dict()))
    (issue,) = json.loads(saved(browser))["issues"]
    assert [item["at"] for item in issue["comments"]] == sorted(time_of(time, "x") for time in times)


def test_html_in_decisions_is_escaped(opened):
    clash = three_cubes().clashes[0]
    triage = Triage().marked(clash, state="active", by=EVIL, assignee=ENDING).commented(clash, ENDING, by=EVIL)
    browser = opened(three_cubes(triage=triage))
    browser.click("#row-0")
    assert "onerror" in browser.evaluate("document.querySelector('#assignee').value")
    assert EVIL in browser.evaluate("document.querySelector('.said small').textContent")
    assert browser.evaluate("document.querySelectorAll('#triage img, #triage script, datalist script').length") == 0
