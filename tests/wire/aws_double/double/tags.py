"""AWS's rules for tags, the same for groups and for EC2's resources."""

import unicodedata

LIMIT = 50
PUNCTUATION = set("_.:/=+-@")


def fault(tags):
    """What is wrong with a dict of tags, as (kind, sentence); None if nothing is."""
    if len([key for key in tags if not key.startswith("aws:")]) > LIMIT:
        return "limit", f"The maximum number of tags for a resource is {LIMIT}"
    for key, value in tags.items():
        value = value or ""
        if not 1 <= len(key) <= 128:
            return "value", f"Tag key exceeds the maximum length of 128 characters or is empty: '{key}'"
        if len(value) > 256:
            return "value", f"Tag value exceeds the maximum length of 256 characters (key '{key}')"
        if key.lower().startswith("aws:"):
            return "value", f"Tag keys starting with 'aws:' are reserved for internal use: '{key}'"
        for text in (key, value):
            odd = [c for c in text if unicodedata.category(c)[0] not in "LNZ" and c not in PUNCTUATION]
            if odd:
                return "value", f"Tag has characters that are not allowed: {odd[0]!r} (key '{key}')"
    return None
