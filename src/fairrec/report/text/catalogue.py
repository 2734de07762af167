"""How places are spread over all items, in sentences."""

from __future__ import annotations

from fairrec.core.errors import plain
from fairrec.inputs.several import LACKS
from fairrec.inputs.users import MISSING, column_of
from fairrec.report.words import group_label, number, percent, plural
from fairrec.result.schema import AuditSummary, CatalogueExposure, ItemsShown

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
    lines += _seldom_shown(found, summary.coverage.min_users)
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


def _seldom_shown(found: CatalogueExposure, min_users: int) -> list[str]:
    """The values of which the smallest share of items is in any list; none where all are."""
    kinds: dict[tuple[str, str], ItemsShown] = {}
    for name, about in found.representation.items():
        column = column_of(name, about.shown)
        for value, one in about.shown.items():
            # what lacks one of several values is no kind of items, what has none of them is one
            if one.n_items >= min_users and not (column and value == LACKS):
                kinds[column if column and value == MISSING else name, value] = one
    share_of_all = found.n_shown / max(1, found.n_items)
    shares = {kind: one.n_shown / one.n_items for kind, one in kinds.items()}
    least = sorted(
        (share, -kinds[kind].n_items, *kind)
        for kind, share in shares.items()
        if share < share_of_all
    )
    if not least:
        return []
    named = [
        f"{group_label({name: value})} {kinds[name, value].n_shown:,} of {-n:,} ({percent(share)})"
        for share, n, name, value in least[:_SHOWN]
    ]
    return [f"The smallest shares shown at all: {'; '.join(named)}."]
