"""Runs all cases against `sluice serve`, and exits with 1 if one fails."""

import os
import sys
import time

import file_cases
import message_cases
import metric_cases
import rule_cases
import rules
import setting_cases
import transport_cases
from cases import run_cases
from service import Service

REDIS = os.environ.get("ENVOY_TEST_REDIS")

def on_rules(store, *args):
    """The modules that share one service."""
    with Service(*args, files=rules.FILES) as service:
        for module in [message_cases, rule_cases, metric_cases, transport_cases]:
            yield f"{module.__name__} on {store}", run_cases(module, service)

def jobs():
    yield from on_rules("memory")
    if REDIS:
        yield from on_rules("Redis", "--store", REDIS, "--prefix", f"conformance-{os.getpid()}:", "--deadline-ms", "2000")
    yield "file_cases", run_cases(file_cases, os.environ["ENVOY_TEST_FOLDER"])
    yield "setting_cases", run_cases(setting_cases)

def main():
    failures = []
    began = time.monotonic()
    for title, (passed, failed) in jobs():
        failures += [f"{title}: {text}" for text in failed]
        print(f"  {title}: {passed} passed, {len(failed)} failed ({time.monotonic() - began:.1f} s)", flush=True)
        began = time.monotonic()
    for text in failures:
        print(f"\n{text}")
    return 1 if failures else 0

if __name__ == "__main__":
    sys.exit(main())
