"""Random rules and random requests: Sluice and envoyproxy/ratelimit must give the same answers, where no difference is
documented. A seed as the argument repeats a run."""

import collections
import copy
import json
import os
import random as randoms
import re
import sys
import time

import random_rules
from calls import OVER, codes, descriptor, left, limit_of, request, send
from original import REDIS, Original
from service import Service

DOMAINS = 40
REQUESTS = 2_000
DAY_S = 86_400
LIMITS_OF_REQUESTS = [(0, 4), (1, 4), (3, 5), (4, 6)]


def view(answer):
    """What must be the same. Of `name` there is none in the original."""
    statuses = [(*(limit_of(status) or (None, None))[:2],) for status in answer.statuses]
    return codes(answer), statuses, left(answer)


def single(random, rules):
    """One descriptor that takes a unit, looks, or brings a limit."""
    kind = random.random()
    if kind < 0.1:
        at = random.randrange(len(LIMITS_OF_REQUESTS))
        return [descriptor(("limited", f"{at}"), limit=LIMITS_OF_REQUESTS[at])]
    return [descriptor(*random_rules.random_entries(random, rules), hits=0 if kind < 0.2 else None)]


def several(random, rules):
    """Up to four descriptors, all of them different."""
    entries = {random_rules.random_entries(random, rules) for _ in range(random.randint(2, 4))}
    return [descriptor(*each) for each in sorted(entries)]


def take_several(random, service, domain, one):
    """Makes a descriptor take several units, but not more than there are: those the original counts, and Sluice does not."""
    look = copy.deepcopy(one)
    look.hits_addend.value = 0
    room = min(9, left(send(service, request(look, domain=domain)))[0])
    if room > 1:
        one.hits_addend.value = random.randint(2, room)


def is_look_at_nothing(descriptors, answer):
    """A look while nothing is left: the original says OVER_LIMIT once a request was denied, Sluice for a limit of 0 only."""
    return descriptors[0].HasField("hits_addend") and left(answer) == [0] and answer.statuses[0].HasField("current_limit")


def compare(title, seed, make, stops_counting, store=(), **kinds):
    random = randoms.Random(seed)
    domains = [random_rules.random_domain(random, f"d{i}", **kinds) for i in range(DOMAINS)]
    # JSON is YAML.
    files = {f"{rules['domain']}.yaml": json.dumps(rules, indent=1) for rules in domains}
    differences = []
    limited = denied = 0
    with Service(*store, files=files) as ours, Original(files, stops_counting) as theirs:
        for _ in range(REQUESTS):
            rules = random.choice(domains)
            domain, descriptors = rules["domain"], make(random, rules["descriptors"])
            if make is single and random.random() < 0.3:
                take_several(random, ours, domain, descriptors[0])
            message = request(*descriptors, domain=domain)
            own, other = send(ours, message), send(theirs, message)
            limited += any(status.HasField("current_limit") for status in other.statuses)
            denied += other.overall_code == OVER
            views = [view(own), view(other)]
            if is_look_at_nothing(descriptors, own):
                views = [each[1:] for each in views]
            resets = [[status.duration_until_reset.seconds for status in answer.statuses] for answer in (own, other)]
            if views[0] != views[1] or not are_near(resets, own):
                told = re.sub(r"\s+", " ", str(message))
                differences.append(f"{domain}: {told}\n  ours   {views[0]} {resets[0]}\n  theirs {views[1]} {resets[1]}")
        if make is single:
            differences += metric_differences(ours, theirs)
    print(f"  {title}: {REQUESTS} requests, {limited} with a limit, {denied} denied, {len(differences)} differences (seed {seed})")
    assert limited > REQUESTS / 3 and denied > REQUESTS / 20, "the rules reach too little"
    return [f"{title}, seed {seed}: {text}" for text in differences[:5]]


def are_near(resets, answer):
    """
    Days end at the same time in both; weeks, months and years do not. Before the first hit, the original says when the day
    ends, and Sluice 0: the whole quota is there.
    """
    ours, theirs = resets
    return all(
        abs(one - other) <= 2
        for one, other, status in zip(ours, theirs, answer.statuses)
        if (limit_of(status) or (0, ""))[1] == "DAY" and 0 < status.limit_remaining < limit_of(status)[0]
    )


def metric_differences(ours, theirs):
    """Counters of the same names and labels. The original's mapping adds rules up whose first two keys are the same."""
    counters = re.compile(r"^ratelimit_service_rate_limit_(total_hits|over_limit|within_limit|near_limit)(\{.*\}) (\S+)$")

    def read(lines):
        found = collections.Counter()
        for name, labels, value in (match.groups() for match in map(counters.match, lines) if match):
            pairs = re.findall(r'(domain|key1|key2)="((?:[^"\\]|\\.)*)"', labels)
            if float(value) > 0:
                found[name, tuple(sorted(pairs))] += float(value)
        return found

    own, other = read(ours.get("/metrics")[1].splitlines()), read(theirs.metrics())
    assert other, "the original has no counters"
    keys = sorted(key for key in {*own, *other} if own.get(key) != other.get(key))
    print(f"  counters: {len(other)} in the original, {len(keys)} differences")
    return [f"{key}: ours {own.get(key)}, theirs {other.get(key)}" for key in keys]


def main():
    if DAY_S - time.time() % DAY_S < 120:
        print("  skipped: the day ends soon, and with it all counts")
        return 0
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else randoms.randrange(2**32)
    differences = compare("one descriptor, memory", seed, single, stops_counting=False, shares=True, shadows=True)
    # The original has names of its own in the counters of a rule whose key is a pattern; these are not compared.
    kinds = {"shares": False, "shadows": False, "key_patterns": True}
    kinds["store"] = ("--store", REDIS, "--prefix", f"compared-{seed}-{os.getpid()}:", "--deadline-ms", "2000")
    differences += compare("several descriptors, Redis", seed, several, stops_counting=True, **kinds)
    print("\n".join(differences))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
