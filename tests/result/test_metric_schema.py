from __future__ import annotations

from tests.builders import audit, make_tables

TABLES = make_tables()
RESULT = audit(TABLES.predictions, TABLES.users, "gender,age:20", metrics="auc,pooled_auc")
