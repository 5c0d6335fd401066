"""
Files with mistakes: Sluice and envoyproxy/ratelimit must take or refuse the same files, and Sluice must say the words of the
original, which stops at its first problem. A seed as the argument repeats a run.
"""

import copy
import json
import os
import random as randoms
import subprocess
import sys
import tempfile

import random_rules
from file_cases import BAD
from service import run_sluice

CHECKER = os.environ.get("ENVOY_TEST_CHECKER")
FILES = 150
# What may stand in a file where something else belongs.
WRONG = [None, "", "text", 5, -1, 1.5, True, [], {}, ["text"], [{"key": "k"}], {"unit": "day"}, "12", "day", 4294967296]
NAMES = [*("key value descriptors rate_limit unit requests_per_unit unlimited name replaces").split(), "shadow_mode"]
NAMES += [*("quota_mode detailed_metric value_to_metric share_threshold domain keys").split()]


def maps(value):
    """Every map of a file."""
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from maps(each)


def with_mistake(random, rules):
    changed = copy.deepcopy(rules)
    at = random.choice(list(maps(changed)))
    kind = random.random()
    if kind < 0.3 and at:
        del at[random.choice(list(at))]
    elif kind < 0.6 and at:
        at[random.choice(list(at))] = random.choice(WRONG)
    elif kind < 0.9:
        at[random.choice(NAMES)] = random.choice(WRONG)
    else:
        lists = [value for each in maps(changed) for value in each.values() if isinstance(value, list) and value]
        chosen = random.choice(lists)
        chosen.append(copy.deepcopy(chosen[0]))
    return changed


def original_says(folder):
    """Nothing if it takes the files, else its first problem."""
    done = subprocess.run([CHECKER, "-config_dir", folder], capture_output=True, text=True, timeout=20)
    last = (done.stdout + done.stderr).strip().splitlines()
    if done.returncode == 0:
        return None
    problem = next((line for line in last if ".yaml: " in line), last[-1])
    return problem.split(".yaml: ", 1)[-1]


# Of a value with a wrong type, the original says no more than this. Sluice says what would be right.
OF_TYPES = ("error loading config file: ", "error checking config", "config error, yaml file contains list of type other")


def agree(own, other):
    if other is None:
        return own["ok"]
    if own["ok"]:
        # The original takes no number with a point; Sluice takes it as a text: `key: 1.5`.
        if other == "error checking config":
            return True
        # A value of a wrong type under a key that has no effect in its place.
        return other.startswith(OF_TYPES) and any("has no effect" in each["message"] for each in own["warnings"])
    return other.startswith(OF_TYPES) or any(other in each["message"] for each in own["problems"])


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else randoms.randrange(2**32)
    random = randoms.Random(seed)
    texts = [text for text in BAD if text]
    for i in range(FILES):
        rules = random_rules.random_domain(random, f"d{i}", shares=True, shadows=True)
        texts.append(json.dumps(with_mistake(random, rules)))
    differences, refused = [], 0
    with tempfile.TemporaryDirectory() as folder:
        theirs, paths = {}, []
        for i, text in enumerate(texts):
            inside = os.path.join(folder, f"{i}")
            os.mkdir(inside)
            path = os.path.join(inside, "rules.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            paths.append(inside)
            theirs[inside] = original_says(inside)
        ours = {each["file"]: each for each in json.loads(run_sluice("validate", "--json", *paths)[1])}
        for path, text in zip(paths, texts):
            refused += theirs[path] is not None
            if not agree(ours[path], theirs[path]):
                differences.append(f"{text}\n  ours   {ours[path]}\n  theirs {theirs[path]}")
    print(f"  files: {len(texts)}, of which the original refuses {refused}, {len(differences)} differences (seed {seed})")
    for text in differences[:12]:
        print(text)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
