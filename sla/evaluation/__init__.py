"""Own the exact evaluation of a contract's month: one set of rows, counted in the engine, judged in integers.

`dataset` says which rows; `judging`, `membership` and `quota` say who counts; `facts` counts them in one pass;
`judged` and `carried` make verdicts of the counts; `values` looks up what is printed beside them.
"""

from sla.evaluation.once import asked_together
from sla.evaluation.report import SCHEMA, computed_credits, cost_verdicts, evaluate, verdicts

__all__ = ["SCHEMA", "asked_together", "computed_credits", "cost_verdicts", "evaluate", "verdicts"]
