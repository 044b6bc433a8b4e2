"""Whether answers to the evaluation set are right, and scores by task and depth.

The rules are those of `paceline score` (src/workload/question.hpp), which scores the engine's
outputs.
"""

import json
import math

NORMAL_QUANTILE = 1.959963984540054  # 97.5 %
CHECKED_TYPES = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}


def is_right(item, output):
    """Says whether an output (its first line) answers the item."""
    answer = output.split("\n")[0].strip()
    if "schema" not in item:
        return answer == item["answer"].strip()
    try:
        value = json.loads(answer)
    except ValueError:
        return False
    return fits(item["schema"], value)


def fits(schema, value):
    """Says whether a value is valid by the part of JSON schema that tasks.py writes."""
    if "const" in schema and schema["const"] != value:
        return False
    if "type" in schema and type(value) is not CHECKED_TYPES[schema["type"]]:
        return False
    if not isinstance(value, dict):
        return True
    properties = schema.get("properties", {})
    if schema.get("additionalProperties") is False and set(value) - set(properties):
        return False
    if set(schema.get("required", [])) - set(value):
        return False
    return all(fits(properties[key], value[key]) for key in value if key in properties)


def wilson(right, asked):
    """Returns the 95 % score interval of a proportion (Wilson 1927) as (low, high)."""
    square = NORMAL_QUANTILE**2
    share = right / asked
    centre = (share + square / (2 * asked)) / (1 + square / asked)
    spread = math.sqrt(share * (1 - share) / asked + square / (4 * asked**2))
    half = NORMAL_QUANTILE * spread / (1 + square / asked)
    return max(0.0, centre - half), min(1.0, centre + half)


def score_rows(items, outputs):
    """Returns a row for each task and depth.

    Keys: task, depth (None without), right, asked, share, low, high, chance (mean of the items'),
    blind (share of right answers when each item gets that of another of its row).
    """
    groups = {}
    for item, output in zip(items, outputs, strict=True):
        groups.setdefault((item["task"], item.get("depth")), []).append((item, output))
    in_order = sorted(groups.items(), key=lambda group: (group[0][0], group[0][1] or 0))
    return [score_row(task, depth, answered) for (task, depth), answered in in_order]


def score_row(task, depth, answered):
    """Returns the row of score_rows for pairs of an item and an output."""
    asked = len(answered)
    right = sum(is_right(item, output) for item, output in answered)
    low, high = wilson(right, asked)
    return {
        "task": task,
        "depth": depth,
        "right": right,
        "asked": asked,
        "share": right / asked,
        "low": low,
        "high": high,
        "chance": sum(item["chance"] for item, _ in answered) / asked,
        "blind": blind_share([item for item, _ in answered]),
    }


def blind_share(items):
    """Returns the share of right answers when each item gets the right answer of another item."""
    pairs = [(item, other) for item in items for other in items if item is not other]
    return sum(is_right(item, other["answer"]) for item, other in pairs) / len(pairs)


def table(rows):
    """Returns the rows as a Markdown table for the model card."""
    lines = ["| task | depth | right | score [95 %] | chance | blind |", "|---" * 6 + "|"]
    for row in rows:
        lines.append(
            f"| {row['task']} | {row['depth'] or ''} | {row['right']}/{row['asked']} "
            f"| {row['share']:.1%} [{row['low']:.1%}, {row['high']:.1%}] "
            f"| {small_share(row['chance'])} | {small_share(row['blind'])} |"
        )
    return "\n".join(lines)


def small_share(share):
    """Returns a share in percent; one too small for two decimals is said to be so, and not 0."""
    return "<0.01%" if 0 < share < 0.00005 else f"{share:.2%}"
