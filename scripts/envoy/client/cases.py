"""The list of cases, and how one is run. A case is a function with a sentence about the behaviour."""

import traceback

_cases = []


def case(sentence):
    """Adds a function to the list of its module. Its argument names the service that it needs."""

    def add(function):
        _cases.append((function.__module__, sentence, function))
        return function

    return add


def run_cases(module, *args):
    """Runs the cases of a module, and returns how many passed and the texts of those that failed."""
    passed, failures = 0, []
    for name, sentence, function in _cases:
        if name != module.__name__:
            continue
        try:
            function(*args)
            passed += 1
        except Exception:
            failures.append(f"{sentence}\n{traceback.format_exc(limit=-3)}")
    return passed, failures


def same(got, wanted, about=""):
    assert got == wanted, f"{about} wanted {wanted!r}, got {got!r}"


def has(text, part):
    assert part in text, f"{part!r} is not in {text!r}"
