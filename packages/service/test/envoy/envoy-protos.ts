import protobuf from 'protobufjs'

/** The messages of the protocol in its own words, written apart from the code that is tested with them. */
const RLS = `
syntax = "proto3";
package envoy.service.ratelimit.v3;
service RateLimitService { rpc ShouldRateLimit(RateLimitRequest) returns (RateLimitResponse); }
message RateLimitRequest {
  string domain = 1;
  repeated envoy.extensions.common.ratelimit.v3.RateLimitDescriptor descriptors = 2;
  uint32 hits_addend = 3;
}
message RateLimitResponse {
  enum Code { UNKNOWN = 0; OK = 1; OVER_LIMIT = 2; }
  message RateLimit {
    enum Unit { UNKNOWN = 0; SECOND = 1; MINUTE = 2; HOUR = 3; DAY = 4; MONTH = 5; YEAR = 6; WEEK = 7; }
    string name = 3;
    uint32 requests_per_unit = 1;
    Unit unit = 2;
  }
  message DescriptorStatus {
    Code code = 1;
    RateLimit current_limit = 2;
    uint32 limit_remaining = 3;
    google.protobuf.Duration duration_until_reset = 4;
  }
  Code overall_code = 1;
  repeated DescriptorStatus statuses = 2;
  repeated envoy.config.core.v3.HeaderValue response_headers_to_add = 3;
  repeated envoy.config.core.v3.HeaderValue request_headers_to_add = 4;
  bytes raw_body = 5;
  google.protobuf.Struct dynamic_metadata = 6;
}`
const DESCRIPTOR = `
syntax = "proto3";
package envoy.extensions.common.ratelimit.v3;
message RateLimitDescriptor {
  message Entry { string key = 1; string value = 2; }
  message RateLimitOverride { uint32 requests_per_unit = 1; envoy.type.v3.RateLimitUnit unit = 2; }
  repeated Entry entries = 1;
  RateLimitOverride limit = 2;
  google.protobuf.UInt64Value hits_addend = 3;
  bool is_negative_hits = 4;
}`
const UNIT = `
syntax = "proto3";
package envoy.type.v3;
enum RateLimitUnit { UNKNOWN = 0; SECOND = 1; MINUTE = 2; HOUR = 3; DAY = 4; MONTH = 5; YEAR = 6; }`
const HEADER = `
syntax = "proto3";
package envoy.config.core.v3;
message HeaderValue { string key = 1; string value = 2; bytes raw_value = 3; }`

const root = new protobuf.Root()
for (const name of ['duration', 'struct', 'wrappers']) {
  const common = protobuf.common.get(`google/protobuf/${name}.proto`)
  root.addJSON(common?.nested ?? {})
}
for (const source of [RLS, DESCRIPTOR, UNIT, HEADER]) protobuf.parse(source, root)
root.resolveAll()

export const RateLimitRequestType = root.lookupType('envoy.service.ratelimit.v3.RateLimitRequest')
export const RateLimitResponseType = root.lookupType('envoy.service.ratelimit.v3.RateLimitResponse')

/** A request in the words of protobufjs. */
export interface ForeignRequest {
  domain?: string
  descriptors?: readonly {
    entries?: readonly { key?: string; value?: string }[]
    limit?: { requestsPerUnit?: number; unit?: number } | undefined
    hitsAddend?: { value?: number } | undefined
    isNegativeHits?: boolean
  }[]
  hitsAddend?: number
}

/** The bytes of a request, as another stack writes them. */
export function encodeRequest(request: ForeignRequest): Buffer {
  return Buffer.from(RateLimitRequestType.encode(RateLimitRequestType.fromObject(request)).finish())
}

/** A response as plain JSON, as another stack reads it. */
export function decodeResponse(bytes: Uint8Array): Record<string, unknown> {
  return RateLimitResponseType.toObject(RateLimitResponseType.decode(bytes), {
    enums: String,
    longs: Number,
    defaults: false,
  })
}
