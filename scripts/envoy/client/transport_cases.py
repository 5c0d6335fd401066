"""What is around the messages: health, reflection, JSON over HTTP, deadlines, and calls that are no good calls."""

import base64
import json
import struct
import time

import grpc
from calls import OK, OVER, ask, descriptor, failure, fresh, left, request, send
from cases import case, has, same
from envoy.service.ratelimit.v3 import rls_pb2
from google.protobuf import json_format
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from raw_call import raw_call

SERVING = health_pb2.HealthCheckResponse.SERVING
SERVICE_UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
RATE_LIMIT = "envoy.service.ratelimit.v3.RateLimitService"
SHOULD_RATE_LIMIT = f"/{RATE_LIMIT}/ShouldRateLimit"


def health(service):
    return health_pb2_grpc.HealthStub(service.channel)


@case("health: Check is SERVING for the service's names, and NOT_FOUND for others")
def _(service):
    for name in ["", "ratelimit", RATE_LIMIT]:
        same(health(service).Check(health_pb2.HealthCheckRequest(service=name), timeout=5).status, SERVING)
    code, _text = failure(lambda: health(service).Check(health_pb2.HealthCheckRequest(service="other"), timeout=5))
    same(code, grpc.StatusCode.NOT_FOUND)


@case("health: Watch says the present status at once, and SERVICE_UNKNOWN for another name")
def _(service):
    for name, wanted in [("ratelimit", SERVING), ("", SERVING), ("other", SERVICE_UNKNOWN)]:
        watch = health(service).Watch(health_pb2.HealthCheckRequest(service=name), timeout=10)
        same(next(watch).status, wanted, name)
        watch.cancel()


@case("reflection: the services and messages are those of the protocol")
def _(service):
    found = ProtoReflectionDescriptorDatabase(service.channel)
    services = set(found.get_services())
    assert {RATE_LIMIT, "grpc.health.v1.Health"} <= services, services
    pool = DescriptorPool(found)
    for name in ["RateLimitRequest", "RateLimitResponse"]:
        compare(pool.FindMessageTypeByName(f"envoy.service.ratelimit.v3.{name}"), rls_pb2.DESCRIPTOR.message_types_by_name[name])
    method = pool.FindServiceByName(RATE_LIMIT).methods_by_name["ShouldRateLimit"]
    same(method.input_type.full_name, "envoy.service.ratelimit.v3.RateLimitRequest")


def compare(found, own, seen=()):
    """Every field that the tests know is there with the same number, type and enum; for messages inside as well."""
    for field in own.fields:
        other = found.fields_by_name[field.name]
        same((other.number, other.type, other.is_repeated), (field.number, field.type, field.is_repeated), field.full_name)
        if field.message_type is not None and field.full_name not in seen:
            compare(other.message_type, field.message_type, (*seen, field.full_name))
        if field.enum_type is not None:
            same([v.name for v in other.enum_type.values], [v.name for v in field.enum_type.values], field.full_name)


def post(service, message):
    status, text = service.get("/json", message if isinstance(message, (str, bytes)) else json_format.MessageToJson(message))
    return status, json.loads(text)


@case("POST /json takes and gives the JSON of proto3: 200, and 429 over the limit")
def _(service):
    client = fresh()
    message = request(descriptor(("described", client), hits=2))
    status, body = post(service, message)
    same(status, 200)
    answer = json_format.ParseDict(body, rls_pb2.RateLimitResponse())
    same((answer.overall_code, left(answer)), (OK, [0]))
    assert answer.statuses[0].duration_until_reset.seconds > 0
    status, body = post(service, message)
    same(status, 429)
    answer = json_format.ParseDict(body, rls_pb2.RateLimitResponse())
    same(answer.overall_code, OVER)
    same(json.loads(answer.raw_body), json.loads(base64.b64decode(body["rawBody"])))
    same(answer.dynamic_metadata["domain"], "test")


@case("POST /json takes both spellings, numbers as texts, and enums by name and number")
def _(service):
    client = fresh()
    for unit, spelling in [('"HOUR"', "requests_per_unit"), ("3", "requestsPerUnit")]:
        text = (
            f'{{"domain":"test","hits_addend":"1","descriptors":[{{"entries":[{{"key":"x","value":"{client}"}}],'
            f'"limit":{{"{spelling}":9,"unit":{unit}}},"hitsAddend":"2"}}]}}'
        )
        status, body = post(service, text)
        same((status, body["statuses"][0]["currentLimit"]), (200, {"requestsPerUnit": 9, "unit": "HOUR"}))
    same(body["statuses"][0]["limitRemaining"], 5)


@case("POST /json answers 400 for what is no request")
def _(service):
    for bad in ["", "{", "[]", "3", '{"domain":5}', '{"nodomain":"x"}', '{"descriptors":[{}]}', '{"domain":"test"}', b"\xff"]:
        same(post(service, bad)[0], 400, repr(bad))


@case("GET /healthcheck is 200 and OK")
def _(service):
    same(service.get("/healthcheck"), (200, "OK"))


@case("a method that does not exist is UNIMPLEMENTED")
def _(service):
    for path in [f"/{RATE_LIMIT}/Other", "/other.Service/ShouldRateLimit", "/", "/x"]:
        call = service.channel.unary_unary(path, lambda each: each, lambda each: each)
        same(failure(lambda: call(b"", timeout=5))[0], grpc.StatusCode.UNIMPLEMENTED, path)


@case("a message of more than 1 MiB is RESOURCE_EXHAUSTED, and the connection stays")
def _(service):
    big = request(descriptor(("ten", "x" * (1024 * 1024 + 1))))
    same(failure(lambda: send(service, big))[0], grpc.StatusCode.RESOURCE_EXHAUSTED)
    same(left(ask(service, descriptor(("ten", fresh())))), [9])


@case("a compressed message is answered or refused as UNIMPLEMENTED")
def _(service):
    client = fresh()
    stub = service.channel.unary_unary(SHOULD_RATE_LIMIT, lambda each: each, lambda each: each)
    data = request(descriptor(("ten", client * 200))).SerializeToString()
    try:
        stub(data, timeout=5, compression=grpc.Compression.Gzip)
    except grpc.RpcError as error:
        same(error.code(), grpc.StatusCode.UNIMPLEMENTED)


@case("1,000 calls at once on one connection are all answered, and counted exactly")
def _(service):
    client = fresh()
    stub = service.channel.unary_unary(SHOULD_RATE_LIMIT, lambda each: each, rls_pb2.RateLimitResponse.FromString)
    limited = descriptor(("x", client), limit=(600, 4))
    data = request(limited).SerializeToString()
    answers = [call.result() for call in [stub.future(data, timeout=20) for _ in range(1_000)]]
    same([answer.overall_code for answer in answers].count(OK), 600)


def framed(message):
    return struct.pack(">BI", 0, len(message)) + message


@case("grpc-timeout: a call that comes too late is DEADLINE_EXCEEDED and takes nothing")
def _(service):
    for timeout in ["1n", "0S", "1u"]:
        client = fresh()
        data = framed(request(descriptor(("ten", client))).SerializeToString())
        same(raw_call(service.address, data, {"grpc-timeout": timeout})["grpc-status"], "4", timeout)
        same(left(ask(service, descriptor(("ten", client), hits=0))), [10])


@case("grpc-timeout: a message that does not come in time ends the call in time")
def _(service):
    began = time.monotonic()
    end = raw_call(service.address, None, {"grpc-timeout": "200m"})
    same(end.get("grpc-status"), "4")
    assert time.monotonic() - began < 3


@case("grpc-timeout: every unit is read, and a wrong one is no reason to hang")
def _(service):
    for timeout in ["5S", "5000m", "1H", "99999999M", "99999999u"]:
        data = framed(request(descriptor(("ten", fresh()))).SerializeToString())
        same(raw_call(service.address, data, {"grpc-timeout": timeout})["grpc-status"], "0", timeout)
    for timeout in ["x", "5", "123456789S", "-1S", ""]:
        data = framed(request(descriptor(("ten", fresh()))).SerializeToString())
        assert raw_call(service.address, data, {"grpc-timeout": timeout}), timeout


@case("an error has the status 200, a content-type and a message that comes as it was, also beyond ASCII")
def _(service):
    end = raw_call(service.address, framed(b""))
    same((end[":status"], end["grpc-status"]), ("200", "3"))
    has(end["content-type"], "application/grpc")
    same(end["grpc-message"].replace("%20", " "), "rate limit domain must not be empty")
    name = "größer 100 %\r\n🦊"
    _code, text = failure(lambda: health(service).Check(health_pb2.HealthCheckRequest(service=name), timeout=5))
    has(text, name)


@case("1,000 descriptors are answered, and 1,001 refused")
def _(service):
    one = descriptor(("free", "x"))
    same(len(ask(service, *[one] * 1_000).statuses), 1_000)
    code, text = failure(lambda: ask(service, *[one] * 1_001))
    same(code, grpc.StatusCode.INVALID_ARGUMENT)
    has(text, "at most 1,000 descriptors")


@case("a client that pings often and idles keeps its connection")
def _(service):
    options = [("grpc.keepalive_time_ms", 50), ("grpc.keepalive_permit_without_calls", 1), ("grpc.http2.max_pings_without_data", 0)]
    with grpc.insecure_channel(service.address, options) as pinging:
        stub = pinging.unary_unary(SHOULD_RATE_LIMIT, lambda each: each, rls_pb2.RateLimitResponse.FromString)
        data = request(descriptor(("free", "x"))).SerializeToString()
        until = time.monotonic() + 1
        while time.monotonic() < until:
            same(stub(data, timeout=5).overall_code, OK)


@case("a call that is no gRPC is refused: another content-type, another method, two messages, none, half of one")
def _(service):
    data = framed(request(descriptor(("ten", fresh()))).SerializeToString())
    end = raw_call(service.address, data, {"content-type": "application/json"})
    same(end[":status"], "415")
    assert raw_call(service.address, data, {":method": "GET"}).get("grpc-status", "1") != "0"
    for body in [data + data, b"", data[:-1], data[:3], b"\x01" + data[1:]]:
        assert raw_call(service.address, body).get("grpc-status") not in (None, "0"), body
    same(raw_call(service.address, data, {"content-type": "application/grpc+proto"})["grpc-status"], "0")
