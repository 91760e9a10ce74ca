"""The workbench in a browser: the whole way by mouse and by keyboard, wide and narrow."""

from __future__ import annotations

import csv
import re
import time
import zipfile
from importlib.resources import files
from urllib.parse import urlsplit

import numpy as np
import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("fastapi", reason="the extra app is not installed")
pytest.importorskip("plotly", reason="the extra app is not installed")

from multifacet import find_views
from multifacet.app.limits import Limits
from multifacet.datasets import make_gaussian_views
from multifacet.files import read_file, write_table

from ..browser import launched, needs_browser
from .served import alive, running, searched, small_table, uploaded

pytestmark = needs_browser

#: Milliseconds within which a search on a small table ends on a busy machine.
PATIENCE = 120_000


@pytest.fixture(scope="module")
def browser():
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    few = Limits(cells=100, drawn=100)  # of tables that this machine has; uploads are held whole
    with running(tmp_path_factory.mktemp("explorations"), few) as both:
        yield both


@pytest.fixture
def open_page(browser, served):
    """Return a function that opens the workbench; nothing may go wrong in its pages."""
    contexts, wrong = [], []
    home = str(served[1].base_url)

    def opened(place="", width=1280, scheme="light"):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
        )
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda m: wrong.append(m.text) if is_fault(m) else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        page.on(
            "request",
            lambda request: None if request.url.startswith(home) else wrong.append(request.url),
        )
        page.goto(f"{home}/{place}")
        return page

    yield opened
    for context in contexts:
        context.close()
    # Blobs and data are made in the page itself.
    assert [text for text in wrong if urlsplit(text).scheme not in ("blob", "data")] == []


@pytest.fixture(scope="module")
def explored(served, tmp_path_factory):
    """The address of an exploration with two views, of which the first is accepted."""
    client = served[1]
    address = uploaded(client, small_table(tmp_path_factory.mktemp("data")), given=["known"])
    searched(client, address, n_clusters=3, n_components=2)
    client.post(f"{address}/steps", json={"do": "accept", "view": "v1"}).raise_for_status()
    searched(client, address)
    return f"#{address.rsplit('/', 1)[1]}"


def is_fault(message):
    # The browser calls it an error of the network when the server refuses a file, with a sentence.
    return message.type == "error" and not re.search("a status of (400|422)", message.text)


def traces(page, figure):
    return page.evaluate(
        "id => document.getElementById(id).data.map(one => "
        "({type: one.type, n: one.x.length, selected: one.selectedpoints ?? null}))",
        figure,
    )


def wait_for_figure(page, figure="view-figure"):
    page.wait_for_function("id => document.getElementById(id)?.data?.length", arg=figure)


def lasso(page, figure):
    """Draw around the left half of the first panel of a figure."""
    area = page.locator(f"#{figure} .nsewdrag").first
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    corners = [(0.02, 0.02), (0.5, 0.02), (0.5, 0.98), (0.02, 0.98), (0.02, 0.05)]
    for i, (x, y) in enumerate(corners):
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=8)
        if i == 0:
            page.mouse.down()
    page.mouse.up()


def point_at(page, figure, curve, point):
    """Move the mouse to a point of a figure."""
    page.locator(f"#{figure}").scroll_into_view_if_needed()
    x, y = page.evaluate(
        "([id, curve, i]) => { const figure = document.getElementById(id);"
        " const { x, y } = figure.getBoundingClientRect();"
        " const axis = (name) => figure._fullLayout[name + (curve ? curve + 1 : '')];"
        " const place = (name) => axis(name + 'axis')._offset"
        " + axis(name + 'axis').l2p(figure.data[curve][name][i]);"
        " return [x + place('x'), y + place('y')]; }",
        [figure, curve, point],
    )
    page.mouse.move(x - 3, y)
    page.mouse.move(x, y)


def test_from_a_file_to_labels_and_back(open_page, served, tmp_path):
    page = open_page()
    data = files("multifacet.datasets").joinpath("penguins.csv")
    page.locator("#file").set_input_files(str(data))
    page.get_by_label("Use of species").select_option("given")
    page.get_by_role("button", name="Find another grouping").click()
    wait_for_figure(page)
    assert [(one["type"], one["n"]) for one in traces(page, "view-figure")] == [
        ("scattergl", 333),
        ("scattergl", 333),
    ]
    assert "WebGL is not supported" not in page.inner_text("#view-figure")
    page.get_by_role("button", name="Accept", exact=True).click()
    page.get_by_role("button", name="✓ Accepted").wait_for()
    page.locator("#find:enabled").click()
    page.locator(".view-card", has_text="view 2").wait_for()
    wait_for_figure(page, "overview-figure")

    lasso(page, "view-figure")
    page.locator("#clear").wait_for()
    count = int(re.match(r"(\d+) rows of 333 highlighted", page.inner_text("#row-count"))[1])
    assert 0 < count < 333
    for figure in ("view-figure", "overview-figure"):
        assert {len(one["selected"]) for one in traces(page, figure)} == {count}
    page.locator("#clear").click()
    page.get_by_text("333 rows", exact=True).wait_for()

    page.locator("#keep").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Labels as CSV").click()
    download.value.save_as(tmp_path / "labels.csv")
    with (tmp_path / "labels.csv").open() as file:
        rows = list(csv.DictReader(file))
    columns = {n: c for n, c in read_file(data).columns.items() if n != "sex"}
    first = find_views(columns, given="species", n_views=1, n_refits=0)[0]
    columns["view 1"] = first.labels
    second = find_views(columns, given=["species", "view 1"], n_views=1, n_refits=0)[0]
    assert [row["view 1"] for row in rows] == [str(label) for label in first.labels]
    assert [row["view 2"] for row in rows] == [str(label) for label in second.labels]

    # Reopened from the first screen, it is as it was.
    page.get_by_role("button", name="Close").click()
    page.locator("#home").click()
    page.locator("a.card", has_text="penguins").first.click()
    wait_for_figure(page)
    assert page.locator(".view-card").count() == 2
    assert page.locator(".view-card.accepted").inner_text().startswith("view 1")


def test_a_sample_offers_the_labels_of_all_rows(open_page, served, tmp_path):
    birds = read_file(files("multifacet.datasets").joinpath("penguins.csv")).columns
    (tmp_path / "birds").mkdir()
    for i, part in enumerate((slice(200), slice(200, None))):
        some = {name: column[part] for name, column in birds.items()}
        write_table(tmp_path / "birds" / f"{i}.parquet", some)
    page = open_page(f"#{served[0].begin_here(tmp_path / 'birds').id}")
    page.get_by_text("100 rows of 333, 6 columns").wait_for()
    page.get_by_text("100 of 333 rows, drawn by their content").wait_for()
    page.locator("#find:enabled").click()
    wait_for_figure(page)
    page.locator("#keep").click()
    page.get_by_role("link", name="Labels as CSV, of the sample").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="Labels of all rows").click()
    assert download.value.suggested_filename == "birds-sample-all-labels.zip"
    with zipfile.ZipFile(download.value.path()) as archive:
        assert archive.namelist() == ["labels/part-00000.parquet", "labels/part-00001.parquet"]


def test_a_reload_comes_back_to_the_search_and_cancel_ends_it(open_page, served, tmp_path):
    X, _ = make_gaussian_views(4000, [3, 3, 3], n_noise=10, random_state=0)
    np.save(tmp_path / "large.npy", X)
    address = uploaded(served[1], tmp_path / "large.npy")
    page = open_page(f"#{address.rsplit('/', 1)[1]}")
    page.get_by_role("button", name="Find a grouping").click()
    page.locator(".sketch canvas").first.wait_for(state="attached")
    page.reload()
    page.locator(".sketch canvas").first.wait_for(state="attached")
    job = served[1].get(address).json()["jobs"][0]
    assert job["status"] == "running"
    page.locator("#cancel").click()
    end = time.monotonic() + 2
    while alive(job["pid"]):
        assert time.monotonic() < end
        time.sleep(0.02)
    page.locator(".job").wait_for(state="detached")
    page.locator("#find:enabled").wait_for()


@pytest.mark.parametrize(
    ("width", "scheme"), [(390, "light"), (390, "dark"), (1280, "dark"), (2560, "light")]
)
def test_everything_is_in_sight(open_page, explored, width, scheme):
    page = open_page(explored, width, scheme)
    wait_for_figure(page)
    wait_for_figure(page, "overview-figure")
    wait_for_figure(page, "frontier")
    page.get_by_role("heading", name="How far they agree").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for figure in ("view-figure", "overview-figure", "frontier"):
        box = page.locator(f"#{figure} .main-svg").first.bounding_box()
        frame = page.locator(f"#{figure}").bounding_box()
        assert box["width"] >= 280
        assert frame["x"] >= 0
        assert frame["x"] + frame["width"] <= width
        assert box["height"] <= frame["height"] + 1
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background)[:3])) > 600) == (scheme == "light")


def test_no_button_sends_a_figure_away(open_page, explored):
    page = open_page(explored)
    wait_for_figure(page, "overview-figure")
    titles = page.locator(".modebar-btn").evaluate_all("all => all.map(one => one.dataset.title)")
    assert set(titles) == {"Zoom", "Pan", "Box Select", "Lasso Select", "Reset axes"}
    assert page.evaluate(
        "[...document.querySelectorAll('.js-plotly-plot')].every(one => "
        "!one._context.showSendToCloud && !one._context.plotlyServerURL)"
    )


def test_steps_of_a_view(open_page, explored):
    page = open_page(explored)
    page.locator(".view-card").first.click()
    page.get_by_role("heading", name="view 1").wait_for()
    page.get_by_label("Choose group 0").check()
    page.get_by_label("Choose group 2").check()
    page.locator("#merge").click()
    page.locator(".view-card").first.get_by_text("2 groups").wait_for()
    page.get_by_role("button", name="Rename group 0").click()
    page.get_by_label("Name of group 0").last.fill("<i>both</i>")
    page.keyboard.press("Enter")
    page.locator(".legend", has_text="<i>both</i>").wait_for()
    page.locator("#code").click()
    assert "np.isin(labels_1, [0, 2])" in page.inner_text("dialog pre >> nth=0")
    page.keyboard.press("Escape")
    page.locator("#undo").click()
    page.locator(".legend", has_text="<i>both</i>").wait_for(state="detached")
    page.locator("#undo").click()
    page.locator(".view-card").first.get_by_text("3 groups").wait_for()
    assert page.inner_text("#live[role=status]") == "undone: merging the groups"
    page.get_by_role("button", name="Highlight group 1").click()
    page.locator("#clear").click()
    slider = page.locator("#threshold")
    slider.fill("1")
    page.get_by_text(re.compile(r"^0 of 4 features")).wait_for()
    page.get_by_role("button", name="Show the clustering at novelty weight 0.1").click()
    page.locator("#view-figure", has_text="at novelty weight 0.1").wait_for()
    page.get_by_role("button", name="Search at this weight").click()
    assert page.locator('[data-setting="novelty_weight"]').input_value() == "0.1"
    page.get_by_role("button", name=re.compile("Compare known with view 2")).click()
    page.locator("#pair table").wait_for()


def test_a_rejected_view_can_be_allowed_again_and_hints_say_where_to_look(
    open_page, served, tmp_path
):
    client = served[1]
    address = uploaded(client, small_table(tmp_path), given=["known"])
    searched(client, address, n_clusters=4, n_components=2)
    page = open_page(f"#{address.rsplit('/', 1)[1]}")
    wait_for_figure(page)
    page.locator("#contrasts svg.plot").first.wait_for()
    colours = page.evaluate("document.getElementById('view-figure').data[0].marker.color")
    page.locator("#reject").click()
    side = page.locator(".searching")
    side.get_by_text("Rejected, so not again: view 1.").wait_for()
    assert page.inner_text("#find") == "Find another grouping"
    side.get_by_role("button", name="Allow view 1 again").click()
    side.get_by_text("Rejected, so not again").wait_for(state="detached")
    # Groups that are left keep their colours.
    page.get_by_label("Choose group 0").check()
    page.get_by_label("Choose group 1").check()
    page.locator("#merge").click()
    page.locator(".view-card").first.get_by_text("3 groups").wait_for()
    page.wait_for_function(
        "was => new Set(document.getElementById('view-figure').data[0].marker.color).size"
        " === new Set(was).size - 1",
        arg=colours,
    )
    after = page.evaluate("document.getElementById('view-figure').data[0].marker.color")
    kept = [was == now for was, now in zip(colours, after, strict=True)]
    assert len({was for was, same in zip(colours, kept, strict=True) if not same}) == 1
    # A hint goes to the next search, which says so.
    page.locator("#hints summary").click()
    assert page.locator("#among").is_disabled()
    page.get_by_role("button", name="Highlight group 0").click()
    page.locator("#among", has_text="Only among").wait_for()
    assert page.locator("#among").is_enabled()
    page.get_by_label("x1 matters").check()
    page.get_by_label("x2 matters").check()
    with page.expect_request("**/jobs") as sent:
        page.locator("#only-features").click()
    assert sent.value.post_data_json["features"] == ["x1", "x2"]
    looking = page.get_by_role("heading", name="Looking for view 2, only by x1, x2")
    found = page.locator(".view-card", has_text="view 2")  # perhaps before anyone could look
    looking.or_(found).first.wait_for()
    page.locator("#find:enabled").wait_for()


def test_it_works_by_keyboard(open_page):
    page = open_page()
    page.locator(".drop").wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    for _ in range(3):  # the file, then the examples
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent").startswith("penguins"):
            break
    page.keyboard.press("Enter")
    page.locator("#find:enabled").focus()
    page.keyboard.press("Enter")
    page.get_by_role("progressbar", name="Progress of the search").wait_for()
    assert "search has begun" in page.inner_text("#live[role=status]")
    page.keyboard.press("Tab")  # from the search under way
    assert page.evaluate("document.activeElement.id") == "cancel"
    page.keyboard.press("Enter")
    page.get_by_text("The search was cancelled").wait_for(state="attached")
    page.locator("#find:focus").wait_for()


def test_the_keyboard_stays_where_it_was(open_page, explored):
    page = open_page(explored)
    wait_for_figure(page)
    page.locator(".view-card").last.click()
    page.get_by_role("heading", name="view 2").wait_for()
    accept = page.get_by_role("button", name="Accept", exact=True)
    accept.focus()
    page.keyboard.press("Enter")
    # By its id: the card of the view is a button that is pressed and says "accepted" too.
    page.locator("#accept[aria-pressed=true]", has_text="Accepted").wait_for()
    assert page.evaluate("document.activeElement.id") == "accept"
    assert "the next search avoids it" in page.inner_text("#live[role=status]")
    page.keyboard.press("Enter")
    accept.wait_for()
    keep = page.get_by_role("button", name="Keep", exact=True)
    keep.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Keep")
    assert dialog.get_by_role("link").count() == 5
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    assert page.evaluate("document.activeElement.id") == "keep"
    # One after the other: the button stays enabled, and a step that is left would confuse others.
    for step in ("taking the view back", "accepting the view"):
        page.locator("#undo").click()
        page.locator("#live", has_text=f"undone: {step}").wait_for(state="attached")


def test_everything_has_a_role_and_a_name(open_page, explored):
    page = open_page(explored)
    wait_for_figure(page, "overview-figure")
    page.get_by_role("img", name=re.compile(r"^view 2: 90 points in 2 groups\.")).wait_for()
    page.get_by_role("img", name="All views beside each other").wait_for()
    for region in ("The view", "All views", "Agreement", "Compare two runs", "Rows"):
        page.get_by_role("region", name=region, exact=True).wait_for()
    page.get_by_role("combobox", name="Use of known").wait_for()
    page.get_by_role("slider", name="Hide loadings below").wait_for()
    page.get_by_role("checkbox", name="Highlight row 0", exact=True).wait_for()
    page.get_by_role("table", name="The groups, their sizes").wait_for()
    roles = "button|combobox|textbox|checkbox|slider|link|table"
    unnamed = re.findall(rf'^ *- (?:{roles})(?! ").*', page.locator("body").aria_snapshot(), re.M)
    assert unnamed == []


def test_two_runs_are_compared(open_page, explored, served):
    client = served[1]
    own = explored[1:]
    kept = client.get(f"/api/explorations/{own}/files/exploration.zip").content
    other = client.post("/api/uploads", params={"name": "other.zip"}, content=kept).json()["id"]
    page = open_page(explored)
    runs = page.get_by_role("region", name="Compare two runs")
    runs.get_by_role("table", name="Where the two differ").wait_for()
    runs.get_by_role("row", name="known known known, view 1", exact=True).wait_for()
    assert "The same in both: features 4; " in runs.inner_text()
    runs.get_by_label("First run").select_option(f"{own}/v2")
    runs.get_by_label("Second run").select_option(f"{other}/v2")
    runs.get_by_text(f"view 2 of {other} (across): NMI 1.00").wait_for()
    assert not runs.get_by_role("table", name="Where the two differ").count()
    client.delete(f"/api/explorations/{other}").raise_for_status()


def test_images_of_pixels(open_page, served, tmp_path):
    rng = np.random.default_rng(0)
    bright = rng.integers(0, 2, 60)
    X = rng.uniform(0, 200, (60, 3)) * [0.2, 0.2, 1] + 100 * bright[:, None] * [1, 1, 0]
    address = uploaded(
        served[1], write_table(tmp_path / "pixels.csv", dict(zip("rgb", X.T, strict=True)))
    )
    searched(served[1], address)
    page = open_page(f"#{address.rsplit('/', 1)[1]}")
    page.get_by_text("Rows are images or pixels").click()
    page.get_by_label("Height").fill("6")
    page.get_by_label("Width").fill("10")
    page.get_by_role("button", name="Show images").click()
    page.get_by_role("img", name="Segments of view 1").wait_for()
    drawn = page.evaluate(
        "Array.from(document.querySelectorAll('canvas.image')[1].getContext('2d')"
        ".getImageData(0, 0, 10, 6).data)"
    )
    shown = np.reshape(drawn, (60, 4))[:, :3]
    np.testing.assert_array_equal(shown, X.round().astype(int))


def test_names_are_shown_as_they_are(open_page, served, tmp_path):
    link, template = '<a href="https://example.org">{}</a>', "%{{x}} <b>{}</b> &amp;"
    X, labels = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
    known = [(link.format("is"), template.format("not"))[c] for c in labels[:, 0]]
    columns = {link.format("x"): X[:, 2], template.format("y"): X[:, 3], "z": X[:, 0]}
    path = write_table(tmp_path / "odd.csv", {link.format("known"): known, **columns})
    client = served[1]
    address = uploaded(client, path, given=[link.format("known")])
    names = {"v1": link.format("view"), "v2": template.format("view")}
    for view, name in names.items():
        searched(client, address, n_components=2)
        step = {"do": "rename", "view": view, "name": name}
        client.post(f"{address}/steps", json=step).raise_for_status()
    step = {"do": "rename", "view": "v1", "group": 0, "name": link.format("group")}
    client.post(f"{address}/steps", json=step | {"group": 0}).raise_for_status()
    page = open_page(f"#{address.rsplit('/', 1)[1]}")
    wait_for_figure(page, "overview-figure")
    page.locator(".view-card").first.click()
    page.locator("#view-name", has_text=names["v1"]).wait_for()
    page.wait_for_function("() => document.querySelector('#view-figure .annotation')")
    found = client.get(f"{address}/views/v1").json()
    drawn = page.locator("#view-figure").text_content()
    for text in (names["v1"], f"by {link.format('known')}", *found["axes"]):
        assert text in drawn
    for name in names.values():
        assert name in page.locator("#overview-figure").text_content()
    row = found["points"]["labels"].index(0)
    for curve, words in ((0, link.format("group")), (1, known[row])):
        point_at(page, "view-figure", curve, row)
        page.locator("#view-figure .hoverlayer", has_text=f"row {row}: {words}").wait_for()
    for tag in ("a", "b"):
        assert page.locator(f".js-plotly-plot {tag}:not(.modebar-btn)").count() == 0
    assert page.locator(".js-plotly-plot tspan[style*='bold']").count() == 0


def test_a_known_group_keeps_its_colour(open_page, explored):
    page = open_page(explored)
    wait_for_figure(page, "overview-figure")
    looks = []
    for i, name in enumerate(("view 1", "view 2")):
        page.locator(".view-card").nth(i).click()
        page.locator("#view-figure", has_text=f"{name}").wait_for()
        page.locator("#view-figure", has_text="by known").wait_for()
        looks.append(
            page.evaluate(
                "() => { const [own, known] = document.getElementById('view-figure').data;"
                " return [own, known].map((one) => one.customdata.map((row, i) => [row,"
                " one.marker.color[i], one.marker.symbol[i]]).sort((a, b) => a[0] - b[0])); }"
            )
        )
    (first, known), (second, again) = looks
    assert known == again
    assert {tuple(look[1:]) for look in known}.isdisjoint(tuple(x[1:]) for x in first + second)
    page.get_by_role("combobox", name="Colour by").select_option("known")
    page.wait_for_function(
        "colour => document.getElementById('overview-figure').data[1].marker.color[0] === colour",
        arg=again[0][1],
    )


def test_what_was_read_and_how_is_said(open_page, tmp_path):
    (tmp_path / "notes.csv").write_text("a;b\n" + "".join(f"{i};{i * i % 7}\n" for i in range(20)))
    page = open_page()
    page.locator("#file").set_input_files(str(tmp_path / "notes.csv"))
    page.get_by_text("fields are separated by ';'", exact=True).wait_for()
    assert "[object" not in page.inner_text("body")


def test_what_is_wrong_is_said(open_page, tmp_path):
    (tmp_path / "empty.csv").write_text("")
    page = open_page()
    page.locator("#file").set_input_files(str(tmp_path / "empty.csv"))
    page.locator(".toast", has_text="'empty.csv' is empty").wait_for()
    page.get_by_role("button", name="Dismiss").click()
    lines = [f"{i % 3},{i * i % 7},{'' if i == 4 else i}" for i in range(20)]
    (tmp_path / "gap.csv").write_text("a,b,c\n" + "\n".join(lines))
    page.locator("#file").set_input_files(str(tmp_path / "gap.csv"))
    page.locator("#find").click()
    page.locator(".toast", has_text="choose under “Missing values” to fill in medians").wait_for()
    page.get_by_label("Missing values").select_option("impute")
    page.get_by_text("Settings (all automatic)").click()
    page.get_by_label("Views in a row").fill("9")
    page.locator("#find:enabled").click()
    page.locator(".toast", has_text="“Views in a row”: Input should be less than").wait_for()


def test_parts_of_dates_are_ticked_below_their_column(open_page, served, tmp_path):
    rng = np.random.default_rng(0)
    columns = {
        "mass": rng.normal(size=40),
        "seen": [f"2025-{1 + i % 12:02}-15" for i in range(40)],
        "age": rng.normal(size=40),
    }
    address = uploaded(served[1], write_table(tmp_path / "dated.csv", columns))
    page = open_page(f"#{address.rsplit('/', 1)[1]}")
    parts = page.get_by_role("group", name="Parts of seen that are features")
    parts.get_by_label("seen.month").check()
    page.get_by_text("3 features used").wait_for()
    page.get_by_label("Use of age").select_option("none")  # what was ticked stays
    page.get_by_text("2 features used").wait_for()
    assert parts.get_by_label("seen.month").is_checked()
    assert served[1].get(address).json()["setup"]["features"] == ["mass", "seen.month"]
    parts.get_by_label("seen.month").uncheck()
    page.get_by_text("1 feature used").wait_for()
