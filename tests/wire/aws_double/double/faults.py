"""Faults on demand: rules per caller, matched by operation, each for so many calls.

A rule is a dict: `operation` (a name, or a pattern such as `Describe*`), `kind`, `count` (absent: for
ever), `skip` (let so many calls through first). Kinds:

- `denied`, `throttle`, `server` (500), `unavailable` (503): the service's own error, without effect
- `error`: `status`, `code` and `message` as given, without effect
- `slow`: `millis` more before the answer
- `cut-before`, `cut-after`: the connection is cut before or after the call took effect
- `hang-before`, `hang-after`: no answer for 60 s, then as above; for killing the caller meanwhile
- `stale`: a read that lags: the answer is the one that this caller last got for the same question
"""

import threading
from fnmatch import fnmatchcase

KINDS = {
    "denied",
    "throttle",
    "server",
    "unavailable",
    "error",
    "slow",
    "cut-before",
    "cut-after",
    "hang-before",
    "hang-after",
    "stale",
}


class Faults:
    """All rules, by access key id."""

    def __init__(self):
        self._lock = threading.Lock()
        self._rules = {}

    def replace(self, access_key, rules):
        for rule in rules:
            if rule.get("kind") not in KINDS or "operation" not in rule:
                raise ValueError(f"no such fault: {rule}")
        with self._lock:
            self._rules[access_key] = [dict(rule, skipped=0, hits=0) for rule in rules]

    def show(self, access_key):
        with self._lock:
            return [dict(rule) for rule in self._rules.get(access_key, [])]

    def take(self, call):
        """The first rule that is due for this call, counted as used; or None."""
        with self._lock:
            for rule in self._rules.get(call.access_key, []):
                if not fnmatchcase(call.operation, rule["operation"]):
                    continue
                if rule.get("count") is not None and rule["hits"] >= rule["count"]:
                    continue
                if rule["skipped"] < rule.get("skip", 0):
                    rule["skipped"] += 1
                    continue
                rule["hits"] += 1
                return rule
        return None
