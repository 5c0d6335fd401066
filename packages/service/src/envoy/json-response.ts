import { CODES, type DescriptorStatus, type HeaderValue, type RateLimitResponse, UNITS } from './rate-limit-request.js'

const MOST_UINT32 = 2 ** 32 - 1

/** A `RateLimitResponse` in the JSON form of proto3, in which fields with their default value are left out. */
export function jsonResponse(response: RateLimitResponse): string {
  const { overallCode, statuses, responseHeaders, requestHeaders, rawBody, metadata } = response
  return JSON.stringify({
    overallCode: codeName(overallCode),
    ...(statuses.length > 0 && { statuses: statuses.map(jsonStatus) }),
    ...(responseHeaders.length > 0 && { responseHeadersToAdd: responseHeaders.map(jsonHeader) }),
    ...(requestHeaders.length > 0 && { requestHeadersToAdd: requestHeaders.map(jsonHeader) }),
    ...(rawBody !== undefined && { rawBody: Buffer.from(rawBody).toString('base64') }),
    ...(metadata !== undefined && { dynamicMetadata: metadata }),
  })
}

function jsonStatus({ code, currentLimit, limitRemaining, untilResetMs }: DescriptorStatus): object {
  return {
    code: codeName(code),
    currentLimit: currentLimit && {
      requestsPerUnit: uint32(currentLimit.requestsPerUnit),
      unit: nameOf(UNITS, currentLimit.unit),
      name: currentLimit.name || undefined,
    },
    limitRemaining: uint32(limitRemaining) || undefined,
    durationUntilReset: untilResetMs === undefined ? undefined : `${untilResetMs / 1_000}s`,
  }
}

/** JSON leaves out what is undefined. */
function jsonHeader({ key, value }: HeaderValue): object {
  return { key: key || undefined, value: value || undefined }
}

function codeName(code: number): string {
  return code === CODES.overLimit ? 'OVER_LIMIT' : (nameOf(CODES, code) ?? 'UNKNOWN')
}

/** The name of a number other than 0. */
function nameOf(names: Readonly<Record<string, number>>, number: number): string | undefined {
  const found = number === 0 ? undefined : Object.entries(names).find(([, each]) => each === number)
  return found?.[0].toUpperCase()
}

function uint32(value: number): number {
  return Math.min(value, MOST_UINT32)
}
