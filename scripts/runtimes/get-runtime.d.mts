/** See get-runtime.mjs. */
export function getDeno(): string
