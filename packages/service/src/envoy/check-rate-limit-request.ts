import { InvalidPolicyError, InvalidTypeError, InvalidValueError, StoreFullError, StoreUnavailableError } from 'sluice'
import { GRPC_STATUS, GrpcError } from '../grpc/grpc-error.js'
import type { RateLimitDescriptor, RateLimitRequest } from './rate-limit-request.js'

/** A request with more takes a server longer than a caller that waits 20 ms has. */
export const MOST_DESCRIPTORS = 1_000

/** The request has more than `MOST_DESCRIPTORS`. */
export function tooManyDescriptors(): GrpcError {
  const most = MOST_DESCRIPTORS.toLocaleString('en')
  return new GrpcError(GRPC_STATUS.invalidArgument, `rate limit descriptor list must have at most ${most} descriptors`)
}

/** Throws if a request asks about nothing, with the words of the original. */
export function checkRateLimitRequest({ domain, descriptors }: RateLimitRequest): void {
  if (domain === '') throw new GrpcError(GRPC_STATUS.invalidArgument, 'rate limit domain must not be empty')
  if (descriptors.length === 0)
    throw new GrpcError(GRPC_STATUS.invalidArgument, 'rate limit descriptor list must not be empty')
}

/** How many hits a descriptor counts: its own number, which may be 0, or that of the request, where 0 means 1. */
export function hitsOf(descriptor: RateLimitDescriptor, request: RateLimitRequest): number {
  return descriptor.hitsAddend ?? (request.hitsAddend === 0 ? 1 : request.hitsAddend)
}

/** An error as the client is told: its own mistake, or a store that is away. Any other is the service's. */
export function rethrowAsGrpc(error: unknown): never {
  const isMistake =
    error instanceof InvalidTypeError || error instanceof InvalidValueError || error instanceof InvalidPolicyError
  if (isMistake) throw new GrpcError(GRPC_STATUS.invalidArgument, error.message)
  if (error instanceof StoreUnavailableError || error instanceof StoreFullError)
    throw new GrpcError(GRPC_STATUS.unavailable, error.message)
  throw error
}
