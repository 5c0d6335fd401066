// What people do with grpcurl against `sluice serve --grpc`: list, describe and call, without files of the protocol.
import { run } from '../run-command.mjs'

const SERVICE = 'envoy.service.ratelimit.v3.RateLimitService'
const REQUEST = '{"domain":"test","descriptors":[{"entries":[{"key":"ten","value":"grpcurl"}]}],"hits_addend":2}'

/** Each case: the arguments, and texts that the output must have. */
const cases = (address, plain) => [
  [
    [plain, address, 'list'],
    [SERVICE, 'grpc.health.v1.Health', 'grpc.reflection.v1'],
  ],
  [[plain, address, 'list', SERVICE], [`${SERVICE}.ShouldRateLimit`]],
  [[plain, address, 'describe', SERVICE], ['rpc ShouldRateLimit']],
  [[plain, address, 'describe', '.envoy.service.ratelimit.v3.RateLimitRequest'], ['uint32 hits_addend = 3;']],
  [
    [plain, address, 'describe', '.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor'],
    ['.google.protobuf.UInt64Value hits_addend = 3;', 'bool is_negative_hits = 4;'],
  ],
  [
    [plain, address, 'describe', '.envoy.service.ratelimit.v3.RateLimitResponse.RateLimit.Unit'],
    ['MONTH = 5;', 'WEEK = 7;'],
  ],
  [
    [plain, '-d', REQUEST, address, `${SERVICE}/ShouldRateLimit`],
    ['"overallCode": "OK"', '"limitRemaining": 8'],
  ],
  [[plain, '-d', REQUEST, address, `${SERVICE}.ShouldRateLimit`], ['"limitRemaining": 6']],
  [[plain, '-d', '{"service":"ratelimit"}', address, 'grpc.health.v1.Health/Check'], ['SERVING']],
  [
    [plain, '-d', '{}', address, `${SERVICE}/ShouldRateLimit`],
    ['InvalidArgument', 'rate limit domain must not be empty'],
  ],
  [[plain, address, 'describe', 'no.such.Service'], ['not found']],
]

/** Runs all cases, and returns how many passed and the texts of those that failed. */
export function runGrpcurl(command, address) {
  const failed = cases(address, '-plaintext').flatMap(([args, wanted]) => {
    const { output } = run(command, ['-max-time', '10', ...args], { timeout: 15_000 })
    const missing = wanted.filter((text) => !output.includes(text))
    return missing.length === 0 ? [] : [`grpcurl ${args.join(' ')}: '${missing[0]}' is not in\n${output}`]
  })
  return { passed: cases('', '').length - failed.length, failed }
}
