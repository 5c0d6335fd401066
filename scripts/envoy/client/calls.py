"""Calls of `ShouldRateLimit`, and short forms of requests and answers."""

import itertools

import grpc
from envoy.extensions.common.ratelimit.v3 import ratelimit_pb2
from envoy.service.ratelimit.v3 import rls_pb2, rls_pb2_grpc
from google.protobuf.unknown_fields import UnknownFieldSet

METHOD = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"
OK = rls_pb2.RateLimitResponse.OK
OVER = rls_pb2.RateLimitResponse.OVER_LIMIT
UNLIMITED = 2**32 - 1
UNITS = rls_pb2.RateLimitResponse.RateLimit.Unit

_number = itertools.count(1)


def fresh(name="client"):
    """A value that no other case uses."""
    return f"{name}-{next(_number)}"


def descriptor(*entries, hits=None, negative=False, limit=None):
    """`descriptor(('key', 'value'), ('key', 'value'))`. `limit` is (requests, number of the unit)."""
    made = ratelimit_pb2.RateLimitDescriptor(is_negative_hits=negative)
    for key, value in entries:
        made.entries.add(key=key, value=value)
    if hits is not None:
        made.hits_addend.value = hits
    if limit is not None:
        made.limit.requests_per_unit, made.limit.unit = limit
    return made


def request(*descriptors, hits=0, domain="test"):
    return rls_pb2.RateLimitRequest(domain=domain, descriptors=descriptors, hits_addend=hits)


def send(service, message, timeout=10):
    answer = rls_pb2_grpc.RateLimitServiceStub(service.channel).ShouldRateLimit(message, timeout=timeout)
    assert len(UnknownFieldSet(answer)) == 0, "the answer has fields that the protocol does not have"
    return answer


def ask(service, *descriptors, hits=0, domain="test"):
    answer = send(service, request(*descriptors, hits=hits, domain=domain))
    assert len(answer.statuses) == len(descriptors), "as many statuses as descriptors"
    return answer


def send_bytes(service, data, timeout=10):
    call = service.channel.unary_unary(METHOD, lambda each: each, rls_pb2.RateLimitResponse.FromString)
    return call(data, timeout=timeout)


def failure(call):
    """The code and the message of the error that a call ends with."""
    try:
        answer = call()
    except grpc.RpcError as error:
        return error.code(), error.details()
    raise AssertionError(f"the call did not fail: {answer}")


def codes(answer):
    return [answer.overall_code, *(status.code for status in answer.statuses)]


def left(answer):
    return [status.limit_remaining for status in answer.statuses]


def limit_of(status):
    """(requests, unit, name), or None."""
    if not status.HasField("current_limit"):
        return None
    limit = status.current_limit
    return limit.requests_per_unit, UNITS.Name(limit.unit), limit.name


def headers(answer):
    return {field.key.lower(): field.value for field in answer.response_headers_to_add}
