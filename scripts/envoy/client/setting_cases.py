"""
Settings of `sluice serve`: header dialects, shadows for all, merged domains, certificates, workers, a Redis that is away, and
policies of Sluice.
"""

import json
import os
import socket
import time

import grpc
from calls import METHOD, OK, OVER, ask, codes, descriptor, failure, fresh, headers, left, limit_of, request, send
from cases import case, has, same
from envoy.service.ratelimit.v3 import rls_pb2, rls_pb2_grpc
from google.protobuf.json_format import MessageToDict
from grpc_health.v1 import health_pb2, health_pb2_grpc
from service import Service, run_sluice

LIMIT = "rate_limit: { unit: day, requests_per_unit: 2 }"
RULES = {"rules.yaml": f"domain: test\ndescriptors:\n  - key: two\n    {LIMIT}\n"}
CERTIFICATES = os.environ["ENVOY_TEST_CERTIFICATES"]


def used_up(service, key="two"):
    """The answer of a client's second call of two, and that of its third."""
    asked = descriptor((key, fresh()))
    return [ask(service, asked) for _ in range(3)][1:]


def names(answer):
    return set(headers(answer))


@case("--envoy-headers draft-6: RateLimit-Limit, -Remaining, -Reset and -Policy")
def _():
    with Service("--envoy-headers", "draft-6", files=RULES) as service:
        passed, denied = used_up(service)
        fields = headers(passed)
        has(fields["ratelimit-limit"], "2")
        same(fields["ratelimit-remaining"], "0")
        assert 0 < int(fields["ratelimit-reset"]) <= 86_400
        assert {"ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "retry-after"} <= names(denied)
        assert denied.raw_body


@case("--envoy-headers legacy: X-RateLimit-Limit, -Remaining and -Reset")
def _():
    with Service("--envoy-headers", "legacy", files=RULES) as service:
        passed, denied = used_up(service)
        fields = headers(passed)
        same((fields["x-ratelimit-limit"], fields["x-ratelimit-remaining"]), ("2", "0"))
        assert int(fields["x-ratelimit-reset"]) > 0
        assert "retry-after" in names(denied)


@case("--envoy-headers none: nothing with a request that passes; a denial keeps Retry-After and its body")
def _():
    with Service(files=RULES, environment={"SLUICE_ENVOY_HEADERS": "none"}) as service:
        passed, denied = used_up(service)
        same(names(passed), set())
        same({name for name in names(denied) if "ratelimit" in name}, set())
        assert "retry-after" in names(denied) and denied.raw_body


@case("--envoy-shadow: all rules count and none denies, also with 0 per unit and over HTTP")
def _():
    files = {"rules.yaml": f"{RULES['rules.yaml']}  - key: zero\n    rate_limit: {{ unit: day, requests_per_unit: 0 }}\n"}
    with Service("--envoy-shadow", files=files) as service:
        _passed, third = used_up(service)
        same((codes(third), left(third), third.raw_body), ([OK, OK], [0], b""))
        same(codes(ask(service, descriptor(("zero", "x")))), [OK, OK])
        same(codes(ask(service, descriptor(("two", "x"), limit=(0, 4)))), [OK, OK])
        has(service.get("/metrics")[1], 'ratelimit_service_rate_limit_shadow_mode{domain="test",key1="two"} 1')


@case("two files of one domain are refused, and merged with --envoy-merge-domains")
def _():
    files = {**RULES, "b/more.yaml": f"domain: test\ndescriptors:\n  - key: three\n    {LIMIT}\n"}
    try:
        Service(files=files).close()
        raise RuntimeError("the service started")
    except AssertionError as error:
        has(str(error), "duplicate domain 'test' in config file")
    with Service("--envoy-merge-domains", files=files) as service:
        same([limit_of(ask(service, descriptor((key, "x"))).statuses[0])[0] for key in ["two", "three"]], [2, 2])


def channel(service, *names_of_files):
    read = [open(os.path.join(CERTIFICATES, name), "rb").read() if name else None for name in names_of_files]
    ca, key, certificate = read
    credentials = grpc.ssl_channel_credentials(ca, key, certificate)
    return grpc.secure_channel(service.address, credentials, [("grpc.ssl_target_name_override", "localhost")])


@case("TLS: a client with a certificate of the authority is answered; one without, with another's, or in plain text is not")
def _():
    paths = {name: os.path.join(CERTIFICATES, name) for name in os.listdir(CERTIFICATES)}
    tls = ["--grpc-cert", paths["server.pem"], "--grpc-key", paths["server-key.pem"]]
    with Service(*tls, "--grpc-client-ca", paths["ca.pem"], files=RULES) as service:
        plain, message = service.channel, request(descriptor(("two", "x")))
        for files, is_known in [
            (("ca.pem", "client-key.pem", "client.pem"), True),
            (("ca.pem", None, None), False),
            (("ca.pem", "stranger-key.pem", "stranger.pem"), False),
            (("stranger.pem", "client-key.pem", "client.pem"), False),
        ]:
            service.channel = channel(service, *files)
            if is_known:
                same(send(service, message).overall_code, OK)
            else:
                same(failure(lambda: send(service, message, timeout=5))[0], grpc.StatusCode.UNAVAILABLE, f"{files}")
            service.channel.close()
        service.channel = plain
        same(failure(lambda: send(service, message, timeout=5))[0], grpc.StatusCode.UNAVAILABLE)
    with Service(*tls, files=RULES) as service:
        service.channel.close()
        service.channel = channel(service, "ca.pem", None, None)
        same(send(service, message).overall_code, OK)


@case("health: Watch says NOT_SERVING at a shutdown")
def _():
    with Service(files=RULES) as service:
        watch = health_pb2_grpc.HealthStub(service.channel).Watch(
            health_pb2.HealthCheckRequest(service="ratelimit"), timeout=20
        )
        same(next(watch).status, health_pb2.HealthCheckResponse.SERVING)
        service.process.terminate()
        same(next(watch).status, health_pb2.HealthCheckResponse.NOT_SERVING)
        same(service.process.wait(timeout=15), 0)


@case("a policy of Sluice: entries are attributes, and one policy serves Envoy and HTTP")
def _():
    levels = [
        {"name": "user", "key": ["user"], "limit": {"algorithm": "fixed-window", "quota": 3, "window": "1d"}},
        {
            "name": "post",
            "when": {"method": "POST", "path": "/v1/x"},
            "key": ["ip"],
            "limit": {"algorithm": "fixed-window", "quota": 1, "window": "1d"},
        },
        {"name": "quiet", "key": ["user"], "shadow": True, "limit": {"algorithm": "fixed-window", "quota": 1, "window": "1d"}},
    ]
    with Service("--policy", policy_file(levels)) as service:
        user = ("user", fresh())
        answer = ask(service, descriptor(user), domain="any")
        same((limit_of(answer.statuses[0]), left(answer)), ((3, "DAY", "user"), [2]))
        status, text = service.get("/v1/check", json.dumps({"attributes": {"user": user[1]}}))
        same((status, json.loads(text)["allowed"]), (200, True))
        same(left(ask(service, descriptor(user), domain="any")), [0])
        denied = ask(service, descriptor(user), domain="any")
        same(codes(denied), [OVER, OVER])
        same(MessageToDict(denied.dynamic_metadata), {"deniedBy": ["user"]})
        post = [("method", "POST"), ("path", "/v1/x?y=1"), ("remote_address", "192.0.2.7")]
        same(limit_of(ask(service, descriptor(*post), domain="any").statuses[0]), (1, "DAY", "post"))
        both = ask(service, descriptor(("user", fresh())), descriptor(*post), domain="any")
        same(codes(both), [OVER, OK, OVER])
        same(codes(ask(service, descriptor(("unknown", "x")), domain="any")), [OK, OK])
        look = descriptor(("user", fresh()), hits=0)
        same(left(ask(service, look, domain="any")), [3])
        refund = descriptor(user, hits=2, negative=True)
        same(left(ask(service, refund, domain="any")), [2])
        limited = descriptor(("user", fresh()), limit=(9, 2))
        same(limit_of(ask(service, limited, domain="any").statuses[0])[:2], (9, "MINUTE"))
        code, text = failure(lambda: ask(service, descriptor(("user", "a"), ("user", "b")), domain="any"))
        same(code, grpc.StatusCode.INVALID_ARGUMENT)
        has(text, "user")


def policy_file(levels):
    path = os.path.join(os.environ["ENVOY_TEST_FOLDER"], "policy.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"version": 1, "name": "native", "levels": levels}, file)
    return path


@case("Redis that is away: open answers OK, closed denies, and a refund says what happened, all in time")
def _():
    away = ["--store", "redis://127.0.0.1:9", "--deadline-ms", "50"]
    for rule, wanted in [("open", OK), ("closed", OVER)]:
        with Service(*away, "--on-failure", rule, files=RULES) as service:
            ask(service, descriptor(("two", "x")))
            began = time.monotonic()
            same(ask(service, descriptor(("two", "x"))).overall_code, wanted, rule)
            assert time.monotonic() - began < 3
            began = time.monotonic()
            body = '{"domain":"test","descriptors":[{"entries":[{"key":"two","value":"x"}],"isNegativeHits":true}]}'
            status, text = service.get("/json", body)
            assert status in (200, 500), (status, text)
            assert time.monotonic() - began < 3


@case("Redis that accepts and never answers: every answer comes in time, also of 200 calls at once")
def _():
    with socket.create_server(("127.0.0.1", 0), backlog=50) as silent:
        store = f"redis://127.0.0.1:{silent.getsockname()[1]}"
        with Service("--store", store, "--deadline-ms", "40", files=RULES) as service:
            stub = service.channel.unary_unary(METHOD, lambda each: each, rls_pb2.RateLimitResponse.FromString)
            data = request(descriptor(("two", "x"))).SerializeToString()
            stub(data, timeout=5)
            began = time.monotonic()
            calls = [stub.future(data, timeout=5) for _ in range(200)]
            same({call.result().overall_code for call in calls}, {OK})
            assert time.monotonic() - began < 3


@case("several workers count together on Redis, over many connections, and all of them follow the files")
def _():
    redis = os.environ.get("ENVOY_TEST_REDIS")
    if redis is None:
        return
    prefix = f"workers-{os.getpid()}:"
    args = ["--workers", "2", "--store", redis, "--prefix", prefix, "--deadline-ms", "2000"]
    with Service(*args, files={"rules.yaml": RULES["rules.yaml"].replace(": 2", ": 30")}) as service:
        own = [("grpc.use_local_subchannel_pool", 1)]
        stubs = [rls_pb2_grpc.RateLimitServiceStub(grpc.insecure_channel(service.address, own)) for _ in range(8)]
        message = request(descriptor(("two", "shared")))
        calls = [stub.ShouldRateLimit.future(message, timeout=10) for stub in stubs for _ in range(5)]
        same([call.result().overall_code for call in calls].count(OK), 30)
        service.write("rules.yaml", RULES["rules.yaml"].replace(": 2", ": 50"))
        until = time.monotonic() + 15
        while any(limit_of(stub.ShouldRateLimit(message).statuses[0])[0] != 50 for stub in stubs):
            assert time.monotonic() < until, "a worker keeps the old rules"


@case("validate and explain understand the files")
def _():
    with Service(files=RULES) as service:
        code, text = run_sluice("validate", service.folder)
        same(code, 0, text)
        has(text, "1 domain (test), 1 rule")
        code, text = run_sluice("explain", service.folder, "two=x")
        same(code, 0, text)
        has(text, "2 of 2 left")
        code, text = run_sluice("explain", service.folder, "--domain", "test", "other=x", ",", "two=x", "--cost", "3")
        same(code, 0, text)
        has(text, "OVER_LIMIT")
