"""Random rules in the YAML of envoyproxy/ratelimit, and random descriptors that reach many of them."""

KEYS = ["a", "b", "c"]
KEY_PATTERNS = ["ab", "a*", "*"]
VALUES = ["x", "y", "xy", "xyz", "z"]
PATTERNS = ["x*", "xy*", "*", "z*"]
UNITS = ["day", "week", "month", "year"]
NAMES = ["n1", "n2", "n3", "n4"]


def random_domain(random, domain, *, shares, shadows, key_patterns=False):
    """A file as plain data. `shares`, `shadows` and `key_patterns` say whether there are such rules."""
    keys = [*KEYS, *KEY_PATTERNS] if key_patterns else KEYS


    def descriptors(depth):
        made = {}
        for _ in range(random.randint(1, 5 if depth == 0 else 3)):
            rule = descriptor(depth)
            made.setdefault((rule["key"], rule.get("value")), rule)
        return list(made.values())

    def descriptor(depth):
        rule = {"key": random.choice(keys)}
        kind = random.random()
        if kind < 0.4:
            rule["value"] = random.choice(VALUES)
        elif kind < 0.7:
            rule["value"] = random.choice(PATTERNS)
            if shares and random.random() < 0.4:
                rule["share_threshold"] = True
        if random.random() < 0.75:
            rule["rate_limit"] = limit()
        if shadows and random.random() < 0.15:
            rule["shadow_mode"] = True
        for name in ["detailed_metric", "value_to_metric"]:
            if random.random() < 0.15:
                rule[name] = True
        if depth < 2 and random.random() < 0.45:
            rule["descriptors"] = descriptors(depth + 1)
        return rule

    def limit():
        made = {}
        if random.random() < 0.5:
            made["name"] = random.choice(NAMES)
        others = [name for name in NAMES if name != made.get("name")]
        if random.random() < 0.2:
            made["replaces"] = [{"name": random.choice(others)}]
        if random.random() < 0.12:
            return {**made, "unlimited": True}
        return {**made, "unit": random.choice(UNITS), "requests_per_unit": random.choice([0, 1, 2, 3, 5, 8])}

    return {"domain": domain, "descriptors": descriptors(0)}


def random_entries(random, rules):
    """Mostly the way to some rule; else entries that may lead nowhere."""
    if random.random() < 0.15:
        return tuple((random.choice(KEYS), random.choice([*VALUES, "other", ""])) for _ in range(random.randint(1, 3)))
    entries = []
    while rules and (not entries or random.random() < 0.6):
        rule = random.choice(rules)
        entries.append((rule["key"].replace("*", random.choice(["", "b"])), random_value(random, rule.get("value"))))
        rules = rule.get("descriptors", [])
    return tuple(entries)


def random_value(random, wanted):
    if random.random() < 0.1:
        return random.choice([*VALUES, *PATTERNS, ""])
    if wanted is None:
        return random.choice(["u", "v", "x"])
    return wanted.replace("*", random.choice(["", "1", "2", "y"]))
