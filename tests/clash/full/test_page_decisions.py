"""What is decided in the page: set by hand and by keys, saved, merged, and read back by the next run."""

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
from tests.clash import sentences

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
    saved(chromium)  # so that the page may be left
    chromium.evaluate("localStorage.clear()")
    assert chromium.complaints == []


def saved(browser):
    """Press the button that saves, and return the file that the browser was given."""
    browser.evaluate("""(() => { window.given = []; const make = URL.createObjectURL;
        URL.createObjectURL = (blob) => { window.given.push(blob); return make.call(URL, blob); };
        document.querySelector('#save').click(); URL.createObjectURL = make; })()""")
    return browser.evaluate("window.given.length ? window.given[0].text() : ''")


def give(browser, *texts):
    """Hand files to the page as if they had been chosen."""
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
    given = json.dumps({"key": key, **more})
    browser.evaluate(f"document.dispatchEvent(new KeyboardEvent('keydown', {given}))")


def chosen(browser):
    """Return which finding is chosen, and which ones the table shows."""
    return browser.evaluate("[clashTable.selected, clashTable.shown]")


def test_edits_go_out_as_a_file_and_come_back(opened):
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
    # approved is not open: it is found under its own state
    assert again.state("shown") == "1"
    show_states(again, "approved")
    again.click("#row-0")
    assert again.evaluate("document.querySelector('[data-state=approved]').getAttribute('aria-pressed')") == "true"
    assert again.evaluate("document.querySelector('.said bdi').textContent") == f"{EVIL} pressed in"
    assert again.evaluate("document.querySelectorAll('#triage script').length") == 0
    assert parse_triage(saved(again).encode(), "again") == triage


def test_keys_set_states_and_leave_fields_alone(opened):
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


def test_a_decision_keeps_the_row_and_another_key_shows_the_next_open_one(opened):
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
    show_states(browser, "open")  # a new filter leaves decided rows out
    assert chosen(browser) == [2, [0, 2, 3, 4]]
    show_states(browser, "approved")
    assert chosen(browser)[1] == [1]


def test_touches_are_listed_when_their_kind_is_chosen_and_open_when_a_person_says_so(opened):
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


def test_several_rows_are_decided_at_once_and_taken_back_at_once(opened):
    report = many(1200, side=4)
    browser = opened(report)
    states = "[0, 1, 2, 3].map((k) => gjk3d.data.rows[k].state)"
    marked = "[...clashTable.marked]"
    browser.key("ArrowDown")
    for _ in range(2):
        press(browser, "ArrowDown", shiftKey=True)
    assert browser.evaluate(marked) == [0, 1, 2]
    press(browser, " ")  # the third is left out again
    assert browser.evaluate("document.querySelector('#bulk b').textContent") == "2 marked"
    press(browser, "4")
    browser.wait(f"{states}.join() === 'approved,approved,new,new'")
    browser.wait("clashTable.marked.size === 0")
    assert browser.evaluate("document.querySelector('#bulk').hidden")
    assert browser.evaluate("document.querySelector('#toast').textContent") == "2 findings: approved"
    assert browser.evaluate("document.querySelector('#undo').textContent") == "undo: approved, 2 findings"
    press(browser, "u")
    assert browser.evaluate(states) == ["new"] * 4
    assert browser.evaluate(marked) == [0, 1]  # the next key is for both again
    press(browser, "2")
    browser.wait(f"{states}.join() === 'active,active,new,new'")
    press(browser, "u")
    browser.key("Escape")
    for place in (1, 3):
        browser.click(f"#row-{place} .mark")
    browser.click("#bulk [data-state=reviewed]")
    browser.wait(f"{states}.join() === 'new,reviewed,new,reviewed'")
    browser.click("#mark-all")  # all of the table, also those whose numbers are not unpacked yet
    write(browser, "#assignees", "bob")
    browser.click("#bulk [data-state=approved]")
    browser.wait("gjk3d.data.rows.filter((row) => row.state === 'approved').length === 1000")
    issues = parse_triage(saved(browser).encode(), "the page").issues
    assert {issue.assignee.value for issue in issues.values()} == {"bob"}
    for clash in report.clashes:
        if clash.kind not in ("touch", "unchecked"):
            assert issues[clash.id].state.distance == clash.distance  # the approval has the exact depth


def test_marks_follow_the_filter_and_end_with_escape(opened):
    browser = opened(many(6, side=2))
    browser.click("#mark-all")
    browser.click("[data-kind=hard]")
    assert browser.evaluate("[...clashTable.marked]") == [0]
    browser.key("Escape")
    assert browser.evaluate("clashTable.marked.size") == 0


def test_a_comment_belongs_to_the_row_that_was_shown(opened):
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


def test_a_phone_shows_the_picture_of_a_chosen_row(opened, chromium):
    browser = opened(many(60, side=4))
    try:
        chromium.resize(390, 844)
        browser.evaluate("document.querySelector('#list').scrollIntoView()")
        browser.settle()  # the rows are drawn at their new places
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


def test_what_was_decided_by_mistake_is_taken_back(opened):
    report = many(6, side=2)
    browser = opened(report)
    shown = "[document.querySelector('#undo').hidden, document.querySelector('#undo').textContent]"
    press(browser, "u")  # there is nothing yet
    assert browser.evaluate(shown) == [True, ""]
    browser.key("ArrowDown")
    press(browser, "2")
    press(browser, "4")
    press(browser, "n")
    press(browser, "5")
    assert chosen(browser) == [1, [0, 1, 2, 3, 4]]
    assert browser.evaluate(shown) == [False, sentences.UNDO.format("resolved", 2)]
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
    assert browser.evaluate("document.activeElement.id") == "scroll"  # and not nowhere
    assert saved(browser) == ""  # nothing is decided


def test_the_button_counts_what_differs_from_the_last_file(opened):
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
    press(browser, "u")  # a copy of this decision exists, so a later one replaces it
    assert browser.evaluate(save) == "save 1 change"
    (issue,) = json.loads(saved(browser))["issues"]
    assert issue["state"]["value"] == "reviewed"


def test_keys_leave_a_finding_alone_that_the_filter_hides(opened):
    browser = opened(many(6, side=2))
    browser.key("ArrowDown")
    show_states(browser, "approved")
    assert chosen(browser) == [0, []]
    press(browser, "4")
    press(browser, " ")
    assert browser.evaluate("[gjk3d.data.rows[0].state, clashTable.marked.size]") == ["new", 0]
    assert sentences.HIDDEN.format(1) in browser.evaluate("document.querySelector('#toast').textContent")
    browser.click("#detail [data-state=approved]")
    assert browser.evaluate("gjk3d.data.rows[0].state") == "approved"


def test_a_comment_is_taken_back_or_deleted(opened):
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
    assert [said["text"] for issue in json.loads(text)["issues"] for said in issue["comments"]] == ["too deep"]
    press(browser, "u")  # the file has the comment, so it is replaced by one without text
    assert browser.evaluate(comments) == 0
    assert browser.evaluate("document.querySelector('#row-0 .sort small').textContent") == "new"
    deleted = parse_triage(saved(browser).encode(), "the page")
    merged = parse_triage(text.encode(), "the page").merged(deleted)
    assert [said.text for said in merged.issues[report.clashes[0].id].comments] == [""]


def test_no_row_moves_when_a_row_is_marked(opened, chromium):
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


def test_what_others_decided_since_is_not_taken_back(opened):
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


def test_no_finding_is_decided_by_a_key_that_is_held_or_a_click_too_many(opened):
    browser = opened(many(6, side=2))
    browser.key("ArrowDown")
    press(browser, "4")
    press(browser, "n")
    press(browser, "4", repeat=True)
    assert browser.evaluate("gjk3d.data.rows[1].state") == "new"
    browser.evaluate("""for (const detail of [1, 2])
        document.querySelector('[data-state=approved]').dispatchEvent(new MouseEvent('click', { detail }))""")
    assert len(json.loads(saved(browser))["issues"]) == 2


def test_a_finding_stays_while_its_comment_is_being_written(opened):
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
    assert [said["text"] for said in issue["comments"]] == ["pressed in"]


def test_what_others_decided_takes_rows_out_but_not_the_one_that_is_read(opened):
    report = many(6, side=2)
    browser = opened(report)
    browser.key("ArrowDown")
    theirs = Triage()
    for clash in report.clashes[:2]:
        theirs = theirs.marked(clash, state="approved", by="bob")
    give(browser, json.dumps(theirs.to_dict()))
    assert chosen(browser) == [0, [0, 2, 3, 4]]
    assert browser.evaluate("document.querySelector('#triage [aria-pressed=true]').textContent") == "approved"


def test_what_is_being_written_stays_when_a_name_or_a_state_is_set(opened):
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
    assert [said["text"] for said in issue["comments"]] == ["move it by 4 mm"]


def test_a_name_is_asked_for_once_and_goes_with_what_was_decided_before(opened):
    browser = opened(three_cubes())
    browser.click("#row-0")
    assert browser.evaluate("document.querySelectorAll('#ask').length") == 0
    browser.click("[data-state=active]")
    browser.click("#comment")
    browser.type("move it")
    browser.click("#triage button.small")
    assert browser.evaluate("document.querySelectorAll('#ask #author').length") == 1
    assert browser.evaluate("document.activeElement.id") != "author"  # it may be left for later
    assert browser.evaluate("document.querySelector('#triage small').textContent").startswith(f"{sentences.NO_NAME}, ")
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


def test_a_file_says_that_no_name_was_given(opened):
    report = three_cubes()
    browser = opened(three_cubes(triage=Triage().commented(report.clashes[1], "why?", by="bob")))
    browser.click("#row-0")
    browser.click("[data-state=active]")
    text = saved(browser)
    assert json.loads(text)["note"] == sentences.NO_NAME_IN_FILE
    assert browser.evaluate("document.querySelector('#saved').textContent").endswith(f". {sentences.NO_NAME_IN_FILE}")
    issue = parse_triage(text.encode(), "the page").issues[report.clashes[0].id]
    assert (issue.state.value, issue.state.by) == ("active", "")


def test_a_file_of_somebody_else_is_merged_as_python_does(opened):
    report = three_cubes()
    one, two = report.clashes
    early, late = "2026-05-04T08:00:00.000Z", "2026-05-04T09:00:00.000Z"
    ours = Triage().marked(one, state="active", by="ann", at=late).commented(one, "why?", by="ann", at=early)
    theirs = (
        Triage().marked(one, state="resolved", by="bob", at=early).marked(two, state="reviewed", by="bob", at=early)
    )
    theirs = theirs.commented(one, ENDING, by="bob", at=late)
    browser = opened(three_cubes(triage=ours))
    give(browser, json.dumps(theirs.to_dict()))
    merged = parse_triage(saved(browser).encode(), "the page")
    assert merged == ours.merged(theirs)
    assert merged.issues[one.id].state.value == "active"
    assert [item.by for item in merged.issues[one.id].comments] == ["ann", "bob"]


def test_what_python_refuses_is_refused(opened):
    browser = opened(three_cubes())
    for text, _ in [("", ""), *damaged()]:
        give(browser, text)
        said = browser.evaluate("document.querySelector('#saved').textContent")
        assert re.match(sentences.REFUSED_IN_PAGE, said), text
        assert saved(browser) == ""  # nothing was decided


def test_a_time_that_is_to_come_is_refused_with_its_cure(opened):
    report, clock = three_cubes(), datetime.now(UTC)
    browser = opened(report)
    for hours, taken in ((25, False), (14, True)):
        late = (clock + timedelta(hours=hours)).isoformat()
        give(browser, json.dumps(Triage().marked(report.clashes[0], state="active", by="ann", at=late).to_dict()))
        said = browser.evaluate("document.querySelector('#saved').textContent")
        assert all(words in said for words in sentences.AHEAD) != taken
        assert browser.evaluate("gjk3d.data.rows[0].state") == ("active" if taken else "new")


def test_times_become_those_of_one_zone_as_in_python(opened):
    report = three_cubes()
    times = [
        "2026-05-04T10:00:00+02:00",
        "2026-05-04T08:00:00.5",
        " 2026-05-04T08:00:00.1234567+0530 ",
        "2026-05-04T08:00:00-03:15",
    ]
    given = Triage()
    for k, time in enumerate(times):
        given = given.commented(report.clashes[0], str(k), by="ann", at=time)
    browser = opened(report)
    give(browser, json.dumps(given.to_dict()))
    (issue,) = json.loads(saved(browser))["issues"]
    assert [item["at"] for item in issue["comments"]] == sorted(time_of(time, "x") for time in times)


def test_hostile_decisions_stay_words(opened):
    clash = three_cubes().clashes[0]
    triage = Triage().marked(clash, state="active", by=EVIL, assignee=ENDING).commented(clash, ENDING, by=EVIL)
    browser = opened(three_cubes(triage=triage))
    browser.click("#row-0")
    assert "onerror" in browser.evaluate("document.querySelector('#assignee').value")
    assert EVIL in browser.evaluate("document.querySelector('.said small').textContent")
    assert browser.evaluate("document.querySelectorAll('#triage img, #triage script, datalist script').length") == 0
