"""Files of rules: the words of errors, and reloads."""

import json
import os
import time

from calls import ask, descriptor, limit_of
from cases import case, has, same
from service import Service, run_sluice

LIMIT = "{ unit: day, requests_per_unit: 1 }"
REFUSED = "the policy file cannot be used; the last good policy stays in force"

# Each file, and what envoyproxy/ratelimit says about it.
BAD = {
    "": "config file cannot have empty domain",
    "domain: ''": "config file cannot have empty domain",
    "domain: a\nrate_limits: []": "config error, unknown key 'rate_limits'",
    "domain: a\n4: x": "config error, key is not of type string: 4",
    "domain: a\ndescriptors: [x]": "config error, yaml file contains list of type other than map: x",
    "domain: a\ndescriptors: [{ value: x }]": "descriptor has empty key",
    "domain: a\ndescriptors: [{ key: x }, { key: x }]": "duplicate descriptor composite key 'a.x'",
    "domain: a\ndescriptors: [{ key: x, value: y }, { key: x, value: y }]": "duplicate descriptor composite key 'a.x_y'",
    "domain: a\ndescriptors: [{ key: x, descriptors: [{ key: y }, { key: y }] }]": "duplicate descriptor composite key 'a.x.y'",
    "domain: a\ndescriptors: [{ key: x, rate_limit: { unit: foo, requests_per_unit: 1 } }]": "invalid rate limit unit 'foo'",
    "domain: a\ndescriptors: [{ key: x, rate_limit: { requests_per_unit: 1 } }]": "invalid rate limit unit ''",
    "domain: a\ndescriptors: [{ key: x, rate_limit: { unit: unknown } }]": "invalid rate limit unit 'unknown'",
    "domain: a\ndescriptors: [{ key: x, rate_limit: { unlimited: true, unit: day } }]": "should not specify rate limit unit when unlimited",
    f"domain: a\ndescriptors: [{{ key: x, rate_limit: {LIMIT[:-1]}, replaces: [{{ name: '' }}] }} }}]": "should not have an empty replaces entry",
    f"domain: a\ndescriptors: [{{ key: x, rate_limit: {LIMIT[:-1]}, name: n, replaces: [{{ name: n }}] }} }}]": "replaces should not contain name of same descriptor",
    "domain: a\ndescriptors: [{ key: x, value: y, share_threshold: true }]": "share_threshold can only be used with wildcard values (ending with '*'), but found key 'x_y'",
    "domain: a\ndescriptors: [{ key: x, share_threshold: true }]": "share_threshold can only be used with wildcard values (ending with '*'), but found key 'x'",
    "domain: a\ndescriptors: [{ key: x, rate_limit: { unit: day, requests_per_unit: -1 } }]": "error loading config file: ",
    "domain: a\ndescriptors: {": "error loading config file: ",
}


@case("every error is said in the words of envoyproxy/ratelimit, with its file and line")
def _(folder):
    folders = []
    for number, text in enumerate(BAD):
        folders.append(os.path.join(folder, f"bad{number}"))
        os.mkdir(folders[-1])
        with open(os.path.join(folders[-1], "rules.yaml"), "w", encoding="utf-8") as file:
            file.write(text)
    code, said = run_sluice("validate", "--json", *folders)
    same(code, 1)
    for answer, wanted in zip(json.loads(said), BAD.values()):
        problems = [each for each in answer["problems"] if wanted in each["message"]]
        assert problems, f"{wanted!r} is not in {answer['problems']}"
        has(problems[0]["file"], "rules.yaml")
        assert problems[0]["line"] >= 1


@case("a service with bad rules does not start")
def _(_folder):
    try:
        Service(files={"a.yaml": "domain: a\ndescriptors: [{ value: x }]"}).close()
    except AssertionError as error:
        has(str(error), "a.yaml:2:15 descriptor has empty key")
    else:
        raise AssertionError("it started")


def quota(service, key="x", domain="a"):
    limit = limit_of(ask(service, descriptor((key, "v"), hits=0), domain=domain).statuses[0])
    return limit and limit[0]


def rules(quota_of_x, domain="a"):
    return f"domain: {domain}\ndescriptors:\n  - key: x\n    rate_limit: {{ unit: day, requests_per_unit: {quota_of_x} }}\n"


def becomes(service, wanted, **options):
    until = time.monotonic() + 15
    while quota(service, **options) != wanted:
        assert time.monotonic() < until, f"the quota stays {quota(service, **options)}, not {wanted}"
        time.sleep(0.02)


@case("changed, new and removed files take effect while calls go on, and counts stay")
def _(_folder):
    with Service(files={"a.yaml": rules(5)}) as service:
        ask(service, descriptor(("x", "counted")), domain="a", hits=2)
        service.write("a.yaml", rules(9))
        becomes(service, 9)
        same(ask(service, descriptor(("x", "counted"), hits=0), domain="a").statuses[0].limit_remaining, 7)
        service.write("deep/b.yaml", rules(4, "b"))
        becomes(service, 4, domain="b")
        os.remove(os.path.join(service.folder, "deep/b.yaml"))
        becomes(service, None, domain="b")
        same(quota(service), 9)


@case("a bad file changes nothing, is logged with its line, and ends with the next good one")
def _(_folder):
    with Service(files={"a.yaml": rules(5)}) as service:
        service.write("b.yaml", "domain: b\ndescriptors:\n  - kez: x\n")
        service.write("a.yaml", rules(6))
        line = service.says(REFUSED)
        has(str(line), "b.yaml")
        has(str(line), "config error, unknown key 'kez'")
        same((quota(service), quota(service, domain="b")), (5, None))
        service.write("b.yaml", rules(3, "b"))
        becomes(service, 3, domain="b")
        same(quota(service), 6)


@case("a folder that loses all its files keeps its rules")
def _(_folder):
    with Service(files={"a.yaml": rules(5)}) as service:
        os.remove(os.path.join(service.folder, "a.yaml"))
        service.says(REFUSED)
        same(quota(service), 5)


def version(folder, name, files):
    os.makedirs(os.path.join(folder, name))
    for file, text in files.items():
        with open(os.path.join(folder, name, file), "w", encoding="utf-8") as opened:
            opened.write(text)


def swap(folder, link, target):
    os.symlink(target, os.path.join(folder, f"{link}_tmp"))
    os.rename(os.path.join(folder, f"{link}_tmp"), os.path.join(folder, link))


@case("a ConfigMap of Kubernetes, whose ..data link is swapped, takes effect with all its files together")
def _(folder):
    mount = os.path.join(folder, "mount")
    version(mount, "..1", {"a.yaml": rules(1), "b.yaml": rules(1, "b")})
    swap(mount, "..data", "..1")
    for name in ["a.yaml", "b.yaml"]:
        os.symlink(f"..data/{name}", os.path.join(mount, name))
    with Service("--envoy-config", mount) as service:
        for number in range(2, 6):
            version(mount, f"..{number}", {"a.yaml": rules(number), "b.yaml": rules(number, "b")})
            swap(mount, "..data", f"..{number}")
            becomes(service, number)
            same(quota(service, domain="b"), number)


@case("a link to the whole folder, as RUNTIME_ROOT is, takes effect when it leads elsewhere")
def _(folder):
    root = os.path.join(folder, "root")
    for number in range(1, 4):
        version(root, f"v{number}/config", {"a.yaml": rules(number)})
    swap(root, "current", "v1")
    with Service("--envoy-config", os.path.join(root, "current", "config")) as service:
        for number in [2, 3]:
            swap(root, "current", f"v{number}")
            becomes(service, number)


@case("100 reloads fail no call, and every answer is of one whole version")
def _(_folder):
    with Service(files={"a.yaml": rules(1)}) as service:
        seen = set()
        for number in range(2, 102):
            service.write("a.yaml", rules(number))
            seen.add(quota(service))
        becomes(service, 101)
        assert seen <= set(range(1, 102)), seen
