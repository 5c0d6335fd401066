import { InvalidPolicyError, InvalidTypeError, InvalidValueError, StoreFullError, StoreUnavailableError } from 'sluice'
import { GRPC_STATUS, GrpcError } from '../grpc/grpc-error.js'

/** An error as the client is told: its own mistake, or a store that is away. Any other is the service's. */
export function rethrowAsGrpc(error: unknown): never {
  const isMistake =
    error instanceof InvalidTypeError || error instanceof InvalidValueError || error instanceof InvalidPolicyError
  if (isMistake) throw new GrpcError(GRPC_STATUS.invalidArgument, error.message)
  if (error instanceof StoreUnavailableError || error instanceof StoreFullError)
    throw new GrpcError(GRPC_STATUS.unavailable, error.message)
  throw error
}
