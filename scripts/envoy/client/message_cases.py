"""The fields of requests and answers: hits, limits in the request, unknown fields and values, header fields, bodies."""

import json

import grpc
from calls import OK, OVER, ask, codes, descriptor, failure, fresh, headers, left, limit_of, request, send, send_bytes
from cases import case, has, same
from google.protobuf.json_format import MessageToDict


@case("a descriptor is answered with its limit, what is left and the time until it resets")
def _(service):
    status = ask(service, descriptor(("ten", fresh()))).statuses[0]
    same(status.code, OK)
    same(limit_of(status), (10, "DAY", "ten"))
    same(status.limit_remaining, 9)
    assert 0 < status.duration_until_reset.seconds <= 86_400


@case("the units of the protocol come back, and the time until the reset ends with them")
def _(service):
    for unit, longest in [
        ("second", 1),
        ("minute", 60),
        ("hour", 3600),
        ("week", 7 * 86_400),
        ("month", 31 * 86_400),
        ("year", 366 * 86_400),
    ]:
        status = ask(service, descriptor((unit, fresh()))).statuses[0]
        same(limit_of(status), (5, unit.upper(), ""))
        until = status.duration_until_reset
        assert 0 < until.seconds + until.nanos / 1e9 <= longest, f"{unit}: {until}"


@case("statuses come in the order of the descriptors, also of those without a rule")
def _(service):
    answer = ask(service, descriptor(("none", "x")), descriptor(("ten", fresh())), descriptor(("free", "x")))
    same([limit_of(status) for status in answer.statuses], [None, (10, "DAY", "ten"), None])
    same(codes(answer), [OK] * 4)
    same(left(answer), [0, 9, 2**32 - 1])


@case("an unknown domain, and a domain without rules, are OK without a limit")
def _(service):
    for domain in ["nowhere", "empty", "constructor", "__proto__"]:
        answer = ask(service, descriptor(("ten", "x")), domain=domain)
        same((codes(answer), limit_of(answer.statuses[0])), ([OK, OK], None))


@case("hits_addend of the request counts for all its descriptors, and 0 means 1")
def _(service):
    one, other = descriptor(("ten", fresh())), descriptor(("ten", fresh()))
    same(left(ask(service, one, other, hits=4)), [6, 6])
    same(left(ask(service, one, other, hits=0)), [5, 5])


@case("hits_addend of a descriptor replaces that of the request")
def _(service):
    one, other = fresh(), fresh()
    same(left(ask(service, descriptor(("ten", one), hits=3), descriptor(("ten", other)), hits=5)), [7, 5])


@case("hits_addend 0 of a descriptor only looks, also when nothing is left")
def _(service):
    client = fresh()
    look = descriptor(("three", client), hits=0)
    same(left(ask(service, look)), [3])
    ask(service, descriptor(("three", client)), hits=2)
    same(left(ask(service, look, hits=7)), [1])
    same(codes(ask(service, descriptor(("three", client)))), [OK, OK])
    same((codes(ask(service, look)), left(ask(service, look))), ([OK, OK], [0]))
    same(codes(ask(service, descriptor(("three", client)))), [OVER, OVER])


@case("negative hits give back, and never more than the whole quota")
def _(service):
    client = fresh()
    ask(service, descriptor(("ten", client)), hits=6)
    same(left(ask(service, descriptor(("ten", client), hits=2, negative=True))), [6])
    same(left(ask(service, descriptor(("ten", client), negative=True))), [7])
    same(left(ask(service, descriptor(("ten", client), hits=1_000, negative=True))), [10])
    same(left(ask(service, descriptor(("ten", fresh()), hits=5, negative=True))), [10])


@case("negative hits are given back only if the other descriptors pass")
def _(service):
    client, full = fresh(), fresh()
    ask(service, descriptor(("ten", client)), hits=6)
    ask(service, descriptor(("three", full)), hits=3)
    refund = descriptor(("ten", client), hits=2, negative=True)
    same(ask(service, refund, descriptor(("three", full))).overall_code, OVER)
    same(left(ask(service, descriptor(("ten", client), hits=0))), [4])


@case("the largest hits of both fields are denied and take nothing")
def _(service):
    client = fresh()
    same(codes(ask(service, descriptor(("ten", client)), hits=2**32 - 1)), [OVER, OVER])
    same(codes(ask(service, descriptor(("ten", client), hits=2**64 - 1))), [OVER, OVER])
    same(left(ask(service, descriptor(("ten", client), hits=0))), [10])
    same(codes(ask(service, descriptor(("ten", client), hits=2**64 - 1, negative=True))), [OK, OK])


@case("a denied request takes nothing, from no descriptor")
def _(service):
    free, full = fresh(), fresh()
    ask(service, descriptor(("three", full)), hits=3)
    answer = ask(service, descriptor(("ten", free)), descriptor(("three", full)))
    same(codes(answer), [OVER, OK, OVER])
    same(left(ask(service, descriptor(("ten", free), hits=0))), [10])


@case("hits that exceed what is left count for nothing")
def _(service):
    client = fresh()
    same(codes(ask(service, descriptor(("three", client)), hits=4)), [OVER, OVER])
    same(left(ask(service, descriptor(("three", client)), hits=3)), [0])


@case("two descriptors of one state need its units together")
def _(service):
    client = fresh()
    same(codes(ask(service, *[descriptor(("three", client))] * 4))[0], OVER)
    same(codes(ask(service, *[descriptor(("three", client))] * 3)), [OK] * 4)
    same(codes(ask(service, descriptor(("three", client)))), [OVER, OVER])


@case("a limit in the request replaces the numbers of the rule")
def _(service):
    client = fresh()
    limited = descriptor(("ten", client), limit=(2, 4))
    same(limit_of(ask(service, limited).statuses[0])[:2], (2, "DAY"))
    same(codes(ask(service, limited)), [OK, OK])
    same(codes(ask(service, limited)), [OVER, OVER])
    same(left(ask(service, descriptor(("ten", client)))), [9])


@case("a limit in the request counts without a rule, for each unit")
def _(service):
    for unit, name in enumerate(["SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR"], start=1):
        limited = descriptor((fresh(), "x"), limit=(1_000, unit))
        answer = ask(service, limited, hits=1_000)
        same((limit_of(answer.statuses[0])[:2], left(answer)), ((1_000, name), [0]))
        if unit > 1:
            same(codes(ask(service, limited)), [OVER, OVER])


@case("a limit of 0 in the request denies, and a limit of the largest number is kept")
def _(service):
    same(codes(ask(service, descriptor(("x", fresh()), limit=(0, 4)))), [OVER, OVER])
    answer = ask(service, descriptor(("x", fresh()), limit=(2**32 - 1, 4)))
    same((limit_of(answer.statuses[0])[0], left(answer)), (2**32 - 1, [2**32 - 2]))


@case("a limit in the request of an unknown domain limits nothing")
def _(service):
    same(codes(ask(service, descriptor(("x", "y"), limit=(0, 4)), domain="nowhere")), [OK, OK])


@case("a limit with an unknown unit leaves the rule in force, and without a rule is an error")
def _(service):
    for unit in [0, 7, 8, 99, 2**31 - 1, -1]:
        if unit != 7:
            message = request(descriptor(("ten", fresh()), limit=(2, unit)))
            same(limit_of(send(service, message).statuses[0]), (10, "DAY", "ten"), f"unit {unit}")
            code, text = failure(lambda: send(service, request(descriptor(("no_rule", "x"), limit=(2, unit)))))
            same(code, grpc.StatusCode.INVALID_ARGUMENT)
            has(text, "no unit that is known")


def varint(number):
    parts = []
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def field(number, kind, data=b""):
    return varint(number << 3 | kind) + data


def unknown_fields(first):
    """One of each kind, also a group, and numbers of up to 29 bits."""
    inner = field(1, 0, varint(5)) + field(2, 2, b"\x03abc")
    return b"".join(
        [
            field(first, 0, varint(2**64 - 1)),
            field(first + 1, 1, b"12345678"),
            field(first + 2, 2, b"\x05hello"),
            field(first + 3, 3) + inner + field(first + 3, 4),
            field(first + 4, 5, b"1234"),
            field(2**29 - 1, 2, b"\x00"),
        ]
    )


def inside(number, data):
    return field(number, 2, varint(len(data)) + data)


@case("unknown fields of every kind are skipped, in every message")
def _(service):
    client = fresh().encode()
    more = unknown_fields(20)
    entry = more + inside(1, b"ten") + more + inside(2, client) + more
    limit = more + field(1, 0, varint(5)) + more + field(2, 0, varint(4)) + more
    hits = more + field(1, 0, varint(2)) + more
    parts = inside(1, entry) + more + inside(2, limit) + inside(3, hits) + more
    message = more + inside(1, b"test") + more + inside(2, parts) + more
    answer = send_bytes(service, message)
    same((limit_of(answer.statuses[0])[:2], left(answer)), ((5, "DAY"), [3]))


@case("a known number with another wire type is one more unknown field")
def _(service):
    message = field(1, 0, varint(7)) + request(descriptor(("ten", fresh()))).SerializeToString() + inside(3, b"abc")
    same(left(send_bytes(service, message)), [9])


@case("the last of a scalar field counts, and a message that comes twice is merged")
def _(service):
    client = fresh()
    message = request(descriptor(("ten", client)), hits=3, domain="other").SerializeToString()
    message += inside(1, b"test") + field(3, 0, varint(2))
    same(left(send_bytes(service, message)), [8])
    entry = inside(1, inside(1, b"ten") + inside(2, fresh().encode()))
    twice = inside(2, field(1, 0, varint(6))) + inside(2, field(2, 0, varint(3)))
    answer = send_bytes(service, inside(1, b"test") + inside(2, entry + twice))
    same(limit_of(answer.statuses[0])[:2], (6, "HOUR"))


@case("bytes that are no message are INVALID_ARGUMENT, and the next call is answered")
def _(service):
    good = request(descriptor(("ten", fresh()))).SerializeToString()
    for bad in [
        good[:-1],
        b"\x0a\xff\xff\xff\xff\x0f",
        b"\x00",
        b"\x07",
        field(9, 3),
        field(9, 4),
        field(9, 3) + field(8, 4),
        b"\x80" * 11,
        inside(1, b"\xff\xfe"),
        field(9, 3) * 10_000,
    ]:
        code, _ = failure(lambda: send_bytes(service, bad))
        same(code, grpc.StatusCode.INVALID_ARGUMENT, f"{bad[:20]!r}")
    same(left(send_bytes(service, good)), [9])


@case("texts of any kind are values: Unicode, empty, long, and with separators")
def _(service):
    for value in ["", "ümläut 🦊", "\x00", "a|b", "a\\|b", "x" * 10_000, "{}", "__proto__"]:
        mine = f"{value}{fresh()}" if value else ""
        ask(service, descriptor(("three", mine)))
        same(left(ask(service, descriptor(("three", mine)))), [1], repr(value[:20]))
    one, other = fresh(), fresh()
    ask(service, descriptor(("app", "shop"), ("user", f"{one}|{other}")))
    same(left(ask(service, descriptor(("app", "shop"), ("user", one)))), [30])


@case("the words of envoyproxy/ratelimit for an empty domain and for no descriptors")
def _(service):
    invalid = grpc.StatusCode.INVALID_ARGUMENT
    same(
        failure(lambda: send(service, request(descriptor(("a", "b")), domain=""))),
        (invalid, "rate limit domain must not be empty"),
    )
    same(failure(lambda: send(service, request())), (invalid, "rate limit descriptor list must not be empty"))
    same(failure(lambda: send_bytes(service, b"")), (invalid, "rate limit domain must not be empty"))


@case("a descriptor without entries has no limit")
def _(service):
    same((codes(ask(service, descriptor())), left(ask(service, descriptor()))), ([OK, OK], [0]))


@case("a request that passes has the quota in header fields and no body")
def _(service):
    answer = ask(service, descriptor(("ten", fresh())))
    fields = headers(answer)
    has(fields["ratelimit-policy"], ";q=10;w=86400")
    has(fields["ratelimit"], ";r=9;t=")
    assert "retry-after" not in fields
    same((answer.raw_body, len(answer.request_headers_to_add)), (b"", 0))


@case("a denied request has Retry-After, and problem details as its body")
def _(service):
    client = fresh()
    ask(service, descriptor(("three", client)), hits=3)
    answer = ask(service, descriptor(("three", client)))
    fields = headers(answer)
    assert 0 < int(fields["retry-after"]) <= 86_400
    has(fields["content-type"], "application/problem+json")
    body = json.loads(answer.raw_body)
    assert body["type"] and body["title"], body


@case("a denial that no waiting helps has no Retry-After")
def _(service):
    assert "retry-after" not in headers(ask(service, descriptor(("zero", fresh()))))
    assert "retry-after" not in headers(ask(service, descriptor(("three", fresh())), hits=4))


@case("header fields name each limit of several descriptors")
def _(service):
    answer = ask(service, descriptor(("ten", fresh())), descriptor(("three", fresh())))
    has(headers(answer)["ratelimit-policy"], ";q=10;w=86400")
    has(headers(answer)["ratelimit-policy"], ";q=3;w=86400")


@case("dynamic_metadata has the metadata of the matched rules")
def _(service):
    client = fresh()
    answer = ask(service, descriptor(("described", client)), descriptor(("ten", client)), hits=2)
    metadata = MessageToDict(answer.dynamic_metadata)
    same(metadata["domain"], "test")
    same(metadata["hitsAddend"], 2)
    first, second = metadata["descriptors"]
    same(first["entries"], [f"described={client}"])
    same(first["metadata"], {"team": "web", "cost": 1.5, "tags": ["a", "b"], "deep": {"is": True, "none": None}})
    assert "metadata" not in second
    denied = ask(service, descriptor(("described", client)))
    same(denied.overall_code, OVER)
    same(MessageToDict(denied.dynamic_metadata)["descriptors"][0]["metadata"]["team"], "web")


@case("dynamic_metadata is absent if no rule has any")
def _(service):
    assert not ask(service, descriptor(("ten", fresh()))).HasField("dynamic_metadata")
