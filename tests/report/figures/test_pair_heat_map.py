from __future__ import annotations

from dataclasses import replace

from fairrec.report.page.figures import FADED, pair_heat_map
from fairrec.report.page.vega import DIVERGING, DIVERGING_NEUTRAL
from fairrec.report.page.view import PairMap
from tests.report.figures.drawing import marks, page_view, svg


def a_map(**changes: object) -> PairMap:
    """One pair whose first cell is a finding and beyond chance, all others are not."""
    view = page_view().pairs[0]
    cells = tuple(
        replace(cell, is_finding=at == 0, is_faded=at > 0, text=f"{at + 100}")
        for at, cell in enumerate(view.cells)
    )
    return replace(view, cells=cells, **changes)


def drawn(view: PairMap, width: int = 900) -> str:
    return svg(pair_heat_map(view).chart().properties(width=width))


def test_the_chart_of_the_page_is_valid_and_drawn():
    assert "<path" in svg(pair_heat_map(page_view().pairs[0]).chart())


def test_cells_inside_chance_are_faded_and_findings_outlined():
    view = a_map()
    cells = marks(drawn(view), "rect")
    faded = [cell for cell in cells if cell.get("fill-opacity") == f"{FADED}"]
    assert len(faded) == len(view.cells) - 1
    (outline,) = (cell for cell in cells if cell.get("stroke") == "#222222")
    assert outline.get("stroke-width") == "2"


def test_numbers_are_printed_where_they_fit():
    view = a_map()
    wide, narrow = drawn(view), drawn(view, 15 * len(view.columns))
    for cell in view.cells:
        assert f">{cell.text}<" in wide
        assert f">{cell.text}<" not in narrow


def test_a_metric_without_a_better_end_has_no_colour_of_better_or_worse():
    def colours(is_neutral: bool) -> list[str]:
        view = a_map(ramp=replace(a_map().ramp, is_neutral=is_neutral))
        spec = pair_heat_map(view).spec
        return spec["layer"][0]["encoding"]["color"]["scale"]["range"]

    assert colours(False) == [*DIVERGING]
    assert colours(True) == [*DIVERGING_NEUTRAL]
    assert not {*DIVERGING} & {*DIVERGING_NEUTRAL}
