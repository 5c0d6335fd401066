import type { DoorConnection, EnvoyCalls } from './grpc-load.mjs'

export declare const policy: { readonly levels: readonly object[] }

export function envoyCalls(keys: number): EnvoyCalls

export function openDoor(
  server: { readonly grpcPort: number },
  connections: number,
  calls: EnvoyCalls,
): Promise<readonly DoorConnection[]>
