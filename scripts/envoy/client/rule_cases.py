"""What rules mean: matching, nesting, modes, shared counts, and what Sluice adds."""

from calls import OK, OVER, UNLIMITED, ask, codes, descriptor, fresh, headers, left, limit_of, request
from cases import case, same
from envoy.service.ratelimit.v3 import rls_pb2_grpc
from google.protobuf.json_format import MessageToDict


def quota(service, *entries, domain="test"):
    """`requests_per_unit` of the rule for these entries, or None."""
    limit = limit_of(ask(service, descriptor(*entries, hits=0), domain=domain).statuses[0])
    return limit and limit[0]


@case("the exact value comes before wildcards, the first wildcard of the file before others, and the bare key last")
def _(service):
    for value, wanted in {
        "/exact": 11,
        "/a": 12,
        "/abc": 12,
        "x.png": 14,
        "/a.png": 12,
        "/x/1/y/2": 15,
        "/x//y/": 15,
        "/x/y/": 16,
        "/else": 16,
        "": 16,
    }.items():
        same(quota(service, ("path", value)), wanted, value)


@case("a key with a value and without a bare rule matches nothing else, and values are texts as written")
def _(service):
    same(quota(service, ("only_exact", "yes")), 17)
    same(quota(service, ("only_exact", "true")), None)
    same(quota(service, ("number", "007")), 18)
    same(quota(service, ("number", "7")), None)


@case("keys and values that look alike when they are joined are told apart")
def _(service):
    same(quota(service, ("a", "b_c")), 21)
    same(quota(service, ("a_b", "c")), None)


@case("a limit counts only for the last entry, and each entry leads one level down")
def _(service):
    app, user = ("app", "shop"), ("user", "ann")
    same(quota(service, app), 30)
    same(quota(service, app, user), 31)
    same(quota(service, app, user, ("action", "buy")), 32)
    same(quota(service, app, user, ("action", "sell")), None)
    same(quota(service, app, user, ("action", "buy"), ("more", "x")), None)
    same(quota(service, app, ("silent", "x")), None)
    same(quota(service, app, ("silent", "x"), ("action", "y")), 33)
    same(quota(service, user, app), None)


@case("an exact value hides the nested rules of the bare key")
def _(service):
    same(quota(service, ("app", "else"), ("other", "x")), 41)
    same(quota(service, ("app", "shop"), ("other", "x")), None)


@case("values that a rule leaves open have counts of their own, on every level")
def _(service):
    user = ("user", fresh())
    same(left(ask(service, descriptor(("app", "shop"), user))), [30])
    same(left(ask(service, descriptor(("app", "shop"), user))), [29])
    same(left(ask(service, descriptor(("app", "shop"), ("user", fresh())))), [30])
    wild = f"/a{fresh()}"
    same(left(ask(service, descriptor(("path", wild)))), [11])
    same(left(ask(service, descriptor(("path", f"/a{fresh()}")))), [11])


@case("domains have counts of their own")
def _(service):
    client = fresh()
    same(left(ask(service, descriptor(("ten", client)))), [9])
    same(left(ask(service, descriptor(("ten", client)), domain="more")), [6])


@case("0 requests per unit always deny, also a look")
def _(service):
    answer = ask(service, descriptor(("zero", fresh())))
    same((codes(answer), limit_of(answer.statuses[0])[0], left(answer)), ([OVER, OVER], 0, [0]))
    same(codes(ask(service, descriptor(("zero", fresh()), hits=0))), [OVER, OVER])


@case("an unlimited rule is OK with 4294967295 left and no limit")
def _(service):
    for hits in [1, 2**32 - 1]:
        answer = ask(service, descriptor(("free", "x")), hits=hits)
        same((codes(answer), left(answer), limit_of(answer.statuses[0])), ([OK, OK], [UNLIMITED], None))


@case("a shadow rule answers OK and counts")
def _(service):
    client = fresh()
    same([left(ask(service, descriptor(("shadow", client)))) for _ in range(3)], [[1], [0], [0]])
    answer = ask(service, descriptor(("shadow", client)))
    same((codes(answer), answer.raw_body), ([OK, OK], b""))
    same(limit_of(answer.statuses[0]), (2, "DAY", ""))


@case("a shadow rule that is over neither denies nor hinders the others, and takes nothing from a denied request")
def _(service):
    client, other = fresh(), fresh()
    ask(service, descriptor(("shadow", client)), hits=2)
    same(left(ask(service, descriptor(("shadow", client)), descriptor(("three", other)), hits=3)), [0, 0])
    fresh_one = fresh()
    same(codes(ask(service, descriptor(("shadow", fresh_one)), descriptor(("three", other)))), [OVER, OK, OVER])
    same(left(ask(service, descriptor(("shadow", fresh_one), hits=0))), [2])


@case("a quota rule alone denies when it is over")
def _(service):
    client = fresh()
    ask(service, descriptor(("quota_two", client)), hits=2)
    same(codes(ask(service, descriptor(("quota_two", client)))), [OVER, OVER])


@case("quota rules deny only when all of them are over, and dynamic_metadata names those that are")
def _(service):
    client = fresh()
    two, three = descriptor(("quota_two", client)), descriptor(("quota_three", client))
    same(codes(ask(service, two, three, hits=2))[0], OK)
    passed = ask(service, two, three)
    same((passed.overall_code, passed.statuses[1].code, passed.statuses[1].limit_remaining), (OK, OK, 1))
    metadata = MessageToDict(passed.dynamic_metadata)
    same((metadata["quotaModeEnabled"], metadata["quotaModeViolations"]), (True, [0]))
    same(ask(service, two, three).overall_code, OK)
    same(ask(service, two, three).overall_code, OVER)


@case("an ordinary rule that is over denies although quota rules have room")
def _(service):
    client = fresh()
    ask(service, descriptor(("three", client)), hits=3)
    answer = ask(service, descriptor(("quota_three", client)), descriptor(("three", client)))
    same(codes(answer), [OVER, OK, OVER])
    same(left(ask(service, descriptor(("quota_three", client), hits=0))), [4])


@case("quota rules that have room do not save a request from a rule that is over, whatever the order")
def _(service):
    client = fresh()
    ask(service, descriptor(("quota_two", client)), hits=2)
    ask(service, descriptor(("three", client)), hits=3)
    asked = [descriptor((key, client)) for key in ["quota_two", "quota_three", "three"]]
    same(ask(service, *asked).overall_code, OVER)
    same(left(ask(service, descriptor(("quota_three", client), hits=0))), [4])


@case("count_over_limit keeps a debt of hits that exceed what is left, once")
def _(service):
    client = fresh()
    ask(service, descriptor(("tokens", client)), hits=90)
    same(codes(ask(service, descriptor(("tokens", client), hits=0))), [OK, OK])
    same(codes(ask(service, descriptor(("tokens", client)), hits=50)), [OVER, OVER])
    same(codes(ask(service, descriptor(("tokens", client), hits=0))), [OVER, OVER])


@case("share_threshold counts all values of its wildcard together, and other wildcards count each")
def _(service):
    same([left(ask(service, descriptor(("file", f"doc{i}")))) for i in range(3)], [[2], [1], [0]])
    same(codes(ask(service, descriptor(("file", fresh("doc"))))), [OVER, OVER])
    same([left(ask(service, descriptor(("file", fresh("img"))))) for i in range(3)], [[2], [2], [2]])


@case("share_threshold of a rule above shares the counts of the rules below")
def _(service):
    leaf = ("leaf", fresh())
    same([left(ask(service, descriptor(("tree", f"a{i}"), leaf))) for i in range(3)], [[2], [1], [0]])
    same(left(ask(service, descriptor(("tree", "a1"), ("leaf", fresh())))), [2])


@case("a limit that another one replaces does not count, wherever it stands")
def _(service):
    client = fresh()
    base, special = descriptor(("base", client)), descriptor(("special", client))
    for asked, at in [([base, special], 0), ([special, base], 1)]:
        answer = ask(service, *asked)
        same((codes(answer), limit_of(answer.statuses[at])), ([OK] * 3, None))
    same(left(ask(service, descriptor(("base", client), hits=0))), [3])
    several = ask(service, special, descriptor(("ten", client)), descriptor(("base", client)))
    same([limit_of(status) for status in several.statuses[1:]], [None, None])


@case("an unlimited rule replaces, too")
def _(service):
    client = fresh()
    ask(service, descriptor(("base", client)), hits=3)
    same(ask(service, descriptor(("base", client))).overall_code, OVER)
    answer = ask(service, descriptor(("base", client)), descriptor(("pass", client)))
    same((codes(answer), left(answer)), ([OK] * 3, [0, UNLIMITED]))


@case("an unlimited rule whose name is replaced stays unlimited, as in envoyproxy/ratelimit")
def _(service):
    answer = ask(service, descriptor(("free_base", "x")), descriptor(("special", fresh())))
    same(left(answer), [UNLIMITED, 99])


@case("200 requests at once for two limits: as many pass as the smaller one allows, and the larger one loses no more")
def _(service):
    client = fresh()
    small, large = descriptor(("x", client), limit=(30, 4)), descriptor(("y", client), limit=(150, 4))
    message = request(small, large)
    stub = rls_pb2_grpc.RateLimitServiceStub(service.channel)
    calls = [stub.ShouldRateLimit.future(message, timeout=20) for _ in range(200)]
    same([call.result().overall_code for call in calls].count(OK), 30)
    large.hits_addend.value = 0
    same(left(ask(service, large)), [120])


@case("100 requests at once for two quota rules: as many pass as the larger one allows, and both are used up")
def _(service):
    client = fresh()
    message = request(descriptor(("quota_thirty", client)), descriptor(("quota_fifty", client)))
    stub = rls_pb2_grpc.RateLimitServiceStub(service.channel)
    calls = [stub.ShouldRateLimit.future(message, timeout=20) for _ in range(100)]
    same([call.result().overall_code for call in calls].count(OK), 50)
    same([left(ask(service, descriptor((key, client), hits=0))) for key in ["quota_thirty", "quota_fifty"]], [[0], [0]])


@case("negative hits of a shadow, an unlimited rule, 0 per unit and a limit in the request are OK")
def _(service):
    client = fresh()
    for key in ["shadow", "free", "zero"]:
        answer = ask(service, descriptor((key, client), hits=5, negative=True))
        same(codes(answer), [OK, OK], key)
    limit = (9, 4)
    ask(service, descriptor(("x", client), hits=4, limit=limit))
    same(left(ask(service, descriptor(("x", client), hits=3, limit=limit, negative=True))), [8])


@case("ranges of addresses match in the order of the file, also of IPv6")
def _(service):
    for address, wanted in {
        "10.1.2.3": 50,
        "2001:db8::1": 50,
        "::ffff:10.1.2.3": 50,
        "192.0.2.7": 2,
        "203.0.113.1": 51,
        "no address": 51,
    }.items():
        same(quota(service, ("remote_address", address), domain="more"), wanted, address)


@case("a range with share_threshold has one count, others have one for each address")
def _(service):
    shared = [left(ask(service, descriptor(("remote_address", f"192.0.2.{i}")), domain="more")) for i in range(1, 3)]
    same(shared, [[1], [0]])
    own = [left(ask(service, descriptor(("remote_address", f"10.0.0.{i}")), domain="more")) for i in range(1, 3)]
    same(own, [[49], [49]])


@case("prefixes match, and share a count if they say so")
def _(service):
    same(quota(service, ("path", "/api/x"), domain="more"), 60)
    same(quota(service, ("path", "/v1/"), domain="more"), 60)
    same(quota(service, ("path", "/v1"), domain="more"), None)
    shared = [left(ask(service, descriptor(("path", f"/shared/{i}")), domain="more")) for i in range(2)]
    same(shared, [[1], [0]])


@case("several limits of a rule must all allow, and the status is that of the tightest")
def _(service):
    client = fresh()
    asked = descriptor(("several", client))
    answer = ask(service, asked, domain="more")
    same((limit_of(answer.statuses[0]), left(answer)), ((3, "MINUTE", "burst"), [2]))
    same(codes(ask(service, asked, hits=4, domain="more")), [OVER, OVER])
    same(left(ask(service, asked, hits=2, domain="more")), [0])


@case("a window of any length counts, and its unit is UNKNOWN to Envoy")
def _(service):
    for key, seconds in [("thirty", 30), ("five_minutes", 300)]:
        status = ask(service, descriptor((key, fresh())), domain="more").statuses[0]
        same(limit_of(status), (4, "UNKNOWN", ""))
        assert status.duration_until_reset.seconds <= seconds


@case("a token bucket, a sliding log and a sliding window count")
def _(service):
    for key, most in [("bucket", 3), ("log", 2), ("sliding", 2)]:
        asked = descriptor((key, fresh()))
        same([left(ask(service, asked, domain="more"))[0] for _ in range(most)], list(range(most - 1, -1, -1)), key)
        denied = ask(service, asked, domain="more")
        same(codes(denied), [OVER, OVER], key)
        assert int(headers(denied)["retry-after"]) > 0


@case("files that are no rules are left out, and files in folders below are read")
def _(service):
    same(quota(service, ("ten", "x"), domain="more"), 7)
