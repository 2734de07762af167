"""How places are spread over all items, in sentences."""

from __future__ import annotations

from fairrec.core.errors import plain
from fairrec.report.words import number, percent, plural
from fairrec.result.schema import AuditSummary

_SHOWN = 5


def catalogue_lines(summary: AuditSummary) -> tuple[str, ...]:
    """What is to be said of the whole catalogue; nothing where users are compared."""
    found = summary.catalogue
    if found is None:
        return ()
    lines = [
        f"The first {found.k} places of {found.n_lists:,} lists show {found.n_shown:,} of "
        f"{plural(found.n_items, 'item')} ({percent(found.n_shown / max(1, found.n_items))}); the "
        f"Gini index of their attention is {number(found.gini)} (0: all get the same)."
    ]
    if found.expected_exposure_loss is not None:
        loss = number(found.expected_exposure_loss)
        lines.append(f"Expected-exposure loss against the ideal order: {loss} a list.")
    for target, told in (("to_catalogue", "their share of the catalogue"), ("to_relevance", "due")):
        values = {
            name: value
            for name, one in found.representation.items()
            if (value := getattr(one, target)) is not None
        }
        if values:
            named = ", ".join(f"{plain(n)} {number(v)}" for n, v in [*values.items()][:_SHOWN])
            more = f" and {len(values) - _SHOWN:,} more" if len(values) > _SHOWN else ""
            lines.append(
                f"Attention-weighted rank fairness against {told} (1: every list meets it): "
                f"{named}{more}."
            )
    return tuple(lines)
