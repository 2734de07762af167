from __future__ import annotations

from fairrec.report.figures.curves import certificate_curve
from fairrec.report.page.chart_view import Certificate, CertificateStep
from tests.report.figures.drawing import svg


def certificate(*steps: tuple[int, float], tolerance: float | None = None) -> Certificate:
    parts = tuple(CertificateStep(size, harm, 3) for size, harm in steps)
    return Certificate("auc", "ruled-out-0", parts, 5000, tolerance, "harm", "users", "words", ())


def test_the_curve_is_valid_and_drawn_with_and_without_what_matters():
    steps = ((10, 0.5), (100, 0.2), (1000, 0.1))
    assert "#d1603d" not in svg(certificate_curve(certificate(*steps)).chart())
    assert "#d1603d" in svg(certificate_curve(certificate(*steps, tolerance=0.3)).chart())


def test_a_step_holds_from_its_size_to_the_next_and_the_last_for_all_larger_groups():
    figure = certificate_curve(certificate((10, 0.5), (100, 0.2)))
    assert [(row["size"], row["harm"]) for row in figure.data["steps"]] == [
        (10, 0.5),
        (100, 0.2),
        (5000, 0.2),
    ]
    assert {
        layer["mark"]["interpolate"]
        for layer in figure.spec["layer"]
        if layer["mark"]["type"] in ("line", "area")
    } == {"step-after"}


def test_what_spans_thousands_is_on_a_log_scale_and_nothing_is_at_its_foot():
    def of(*steps: tuple[int, float]):
        figure = certificate_curve(certificate(*steps))
        assert "<path" in svg(figure.chart())
        return figure.spec["layer"][0]["encoding"]["y"]["scale"], figure.data["steps"]

    scale, _ = of((10, 0.5), (100, 0.2), (1000, 0.0))
    assert (scale["type"], scale["domain"][0]) == ("linear", 0)
    scale, rows = of((3, 900.0), (10, 2.0), (100, 0.5), (1000, 0.0))
    assert scale["type"] == "log"
    assert 0 < scale["domain"][0] < 0.5
    assert rows[-1]["harm"] == scale["domain"][0]
    # all groups are better off
    assert of((10, 0.0))[0]["type"] == "linear"
