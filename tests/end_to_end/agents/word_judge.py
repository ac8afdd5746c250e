"""A judge without a model, for tests: a criterion is met where the output holds it as text."""

import json
import sys

asked = json.load(sys.stdin)
met = [criterion in asked["output"] for criterion in asked["criteria"]]
json.dump({"met": met, "evaluatorType": "deterministic"}, sys.stdout)
