import type { ProtoFile } from '../grpc/reflection/proto-file.js'

const RLS = '.envoy.service.ratelimit.v3'
const COMMON = '.envoy.extensions.common.ratelimit.v3'

/** The files of Envoy's protocol, with what Sluice reads and writes of them. */
export const envoyProtoFiles: readonly ProtoFile[] = [
  {
    name: 'envoy/service/ratelimit/v3/rls.proto',
    package: 'envoy.service.ratelimit.v3',
    imports: [
      'envoy/config/core/v3/base.proto',
      'envoy/extensions/common/ratelimit/v3/ratelimit.proto',
      'google/protobuf/duration.proto',
      'google/protobuf/struct.proto',
    ],
    messages: {
      RateLimitRequest: {
        domain: 'string 1',
        descriptors: `repeated ${COMMON}.RateLimitDescriptor 2`,
        hits_addend: 'uint32 3',
      },
      RateLimitResponse: {
        overall_code: `${RLS}.RateLimitResponse.Code 1`,
        statuses: `repeated ${RLS}.RateLimitResponse.DescriptorStatus 2`,
        response_headers_to_add: 'repeated .envoy.config.core.v3.HeaderValue 3',
        request_headers_to_add: 'repeated .envoy.config.core.v3.HeaderValue 4',
        raw_body: 'bytes 5',
        dynamic_metadata: '.google.protobuf.Struct 6',
      },
      'RateLimitResponse.RateLimit': {
        name: 'string 3',
        requests_per_unit: 'uint32 1',
        unit: `${RLS}.RateLimitResponse.RateLimit.Unit 2`,
      },
      'RateLimitResponse.DescriptorStatus': {
        code: `${RLS}.RateLimitResponse.Code 1`,
        current_limit: `${RLS}.RateLimitResponse.RateLimit 2`,
        limit_remaining: 'uint32 3',
        duration_until_reset: '.google.protobuf.Duration 4',
      },
    },
    enums: {
      'RateLimitResponse.Code': ['UNKNOWN', 'OK', 'OVER_LIMIT'],
      'RateLimitResponse.RateLimit.Unit': ['UNKNOWN', 'SECOND', 'MINUTE', 'HOUR', 'DAY', 'MONTH', 'YEAR', 'WEEK'],
    },
    services: {
      RateLimitService: {
        ShouldRateLimit: { takes: `${RLS}.RateLimitRequest`, gives: `${RLS}.RateLimitResponse` },
      },
    },
  },
  {
    name: 'envoy/extensions/common/ratelimit/v3/ratelimit.proto',
    package: 'envoy.extensions.common.ratelimit.v3',
    imports: ['envoy/type/v3/ratelimit_unit.proto', 'google/protobuf/wrappers.proto'],
    messages: {
      RateLimitDescriptor: {
        entries: `repeated ${COMMON}.RateLimitDescriptor.Entry 1`,
        limit: `${COMMON}.RateLimitDescriptor.RateLimitOverride 2`,
        hits_addend: '.google.protobuf.UInt64Value 3',
        is_negative_hits: 'bool 4',
      },
      'RateLimitDescriptor.Entry': { key: 'string 1', value: 'string 2' },
      'RateLimitDescriptor.RateLimitOverride': {
        requests_per_unit: 'uint32 1',
        unit: '.envoy.type.v3.RateLimitUnit 2',
      },
    },
  },
  {
    name: 'envoy/type/v3/ratelimit_unit.proto',
    package: 'envoy.type.v3',
    enums: { RateLimitUnit: ['UNKNOWN', 'SECOND', 'MINUTE', 'HOUR', 'DAY', 'MONTH', 'YEAR'] },
  },
  {
    name: 'envoy/config/core/v3/base.proto',
    package: 'envoy.config.core.v3',
    messages: { HeaderValue: { key: 'string 1', value: 'string 2', raw_value: 'bytes 3' } },
  },
]
