"""The counters of envoyproxy/ratelimit in /metrics: their names, labels and numbers."""

import re

from calls import ask, descriptor, fresh
from cases import case, same

PREFIX = "ratelimit_service_rate_limit_"


def counts(service, *keys, domain="test"):
    """The counters of a rule by their short names; empty if it has none. `keys` are its labels."""
    labels = "".join(f',key{i}="{key}"' for i, key in enumerate(keys, start=1))
    wanted = f'{{domain="{domain}"{labels}}}'
    found = {}
    for line in service.get("/metrics")[1].splitlines():
        name, _, value = line.rpartition(" ")
        if name.startswith(PREFIX) and name.endswith(wanted):
            found[name[len(PREFIX) : -len(wanted)]] = float(value)
    return found


@case("hits are counted by rule: in total, within, near and over the limit")
def _(service):
    client = fresh()
    for _ in range(7):
        ask(service, descriptor(("plain_metric", client)))
    same(
        counts(service, "plain_metric"),
        {"total_hits": 7, "within_limit": 5, "near_limit": 1, "over_limit": 2, "shadow_mode": 0},
    )


@case("a shadow's hits over the limit are counted as over_limit and shadow_mode")
def _(service):
    client = fresh()
    for _ in range(3):
        ask(service, descriptor(("shadow_metric", client)))
    found = counts(service, "shadow_metric")
    same((found["total_hits"], found["within_limit"], found["over_limit"], found["shadow_mode"]), (3, 1, 2, 2))


@case("detailed_metric names every entry by its value")
def _(service):
    ask(service, descriptor(("detailed", "one")))
    same(counts(service, "detailed_one")["total_hits"], 1)
    same(counts(service, "detailed"), {})


@case("value_to_metric names its own entry by its value")
def _(service):
    ask(service, descriptor(("valued", "one"), ("sub", "two")))
    same(counts(service, "valued_one", "sub")["total_hits"], 1)
    ask(service, descriptor(("wild_metric", "abc")))
    same(counts(service, "wild_metric_abc")["total_hits"], 1)


@case("values that share a count share a name")
def _(service):
    ask(service, descriptor(("shared_metric", "ab")))
    ask(service, descriptor(("shared_metric", "ac")))
    same(counts(service, "shared_metric_a*")["total_hits"], 2)


@case("nested rules have a label for each entry, and wildcards are named as the file writes them")
def _(service):
    before = counts(service, "app_shop", "user").get("total_hits", 0)
    ask(service, descriptor(("app", "shop"), ("user", fresh())), hits=3)
    same(counts(service, "app_shop", "user")["total_hits"], before + 3)
    ask(service, descriptor(("path", "/ax")))
    assert counts(service, "path_/a*")["total_hits"] >= 1


@case("a value with quotes, a backslash and a line break is escaped")
def _(service):
    ask(service, descriptor(("detailed", 'a"b\\c\nd')))
    assert 'key1="detailed_a\\"b\\\\c\\nd"' in service.get("/metrics")[1]


@case("the counters of the service: reloads, calls, errors and their times")
def _(service):
    text = service.get("/metrics")[1]
    for name in ["config_load_success", "config_load_error", "total_requests", "should_rate_limit_error", "response_time_seconds"]:
        assert re.search(rf"^ratelimit_service_{name}", text, re.MULTILINE), name
