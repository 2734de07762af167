"""Groups over releases as one HTML file: charts are images, so nothing in them can run."""

from __future__ import annotations

import base64

from fairrec.report.figures.trend_lines import reach_of, trend_lines
from fairrec.report.page.html import css_text, page_css, page_template, policy
from fairrec.report.text.overview import SHOWN
from fairrec.report.text.trend import trend_view
from fairrec.result.trend import TrendSummary

MOST_CHARTS = 40
"""More lines have a row in the table, and no chart."""


def trend_page(summary: TrendSummary) -> str:
    """The page of a trend."""
    from markupsafe import Markup

    view = trend_view(summary)
    drawn = summary.lines[:MOST_CHARTS]
    reach = {
        metric: reach_of([line for line in drawn if line.metric == metric])
        for metric in summary.metrics
    }
    charts = [
        {
            "title": detail.title,
            "data": base64.b64encode(
                trend_lines(line, summary.releases, reach[line.metric]).encode()
            ).decode(),
            "table": detail,
        }
        for line, detail in zip(drawn, view.details, strict=False)
    ]
    return page_template("trend.html.j2").render(
        view=view,
        charts=charts,
        rows_shown=SHOWN,
        n_more=len(summary.lines) - len(drawn),
        definitions=[(name, metric.definition) for name, metric in summary.metrics.items()],
        policy=policy(images=True),
        css=Markup(page_css()),
        running_title=Markup(css_text(f"FairRec: {view.headline[:100]}")),
    )
