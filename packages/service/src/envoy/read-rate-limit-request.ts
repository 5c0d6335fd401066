import { ProtoReader } from '../protobuf/proto-reader.js'
import { MOST_DESCRIPTORS, tooManyDescriptors } from './check-rate-limit-request.js'
import {
  type DescriptorEntry,
  type RateLimitDescriptor,
  type RateLimitOverride,
  type RateLimitRequest,
  type RateLimitUnit,
  UNITS,
} from './rate-limit-request.js'

const LARGEST_UNIT = Math.max(...Object.values(UNITS))
const reader = new ProtoReader()

/** Reads a `RateLimitRequest`. Unknown fields are skipped. Throws INVALID_ARGUMENT if the bytes are no such message. */
export function readRateLimitRequest(message: Uint8Array): RateLimitRequest {
  let domain = ''
  let hitsAddend = 0
  const descriptors: RateLimitDescriptor[] = []
  reader.begin(message)
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    if (tag === 0x0a) domain = reader.text()
    else if (tag === 0x12) {
      if (descriptors.length === MOST_DESCRIPTORS) throw tooManyDescriptors()
      descriptors.push(readDescriptor())
    } else if (tag === 0x18) hitsAddend = reader.uint32()
    else reader.skip(tag)
  }
  return { domain, descriptors, hitsAddend }
}

function readDescriptor(): RateLimitDescriptor {
  const entries: DescriptorEntry[] = []
  let limit: RateLimitOverride | undefined
  let hitsAddend: number | undefined
  let isNegativeHits = false
  const outer = reader.enter()
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    if (tag === 0x0a) entries.push(readEntry())
    else if (tag === 0x12) limit = readOverride(limit)
    else if (tag === 0x1a) hitsAddend = readWrapped(hitsAddend)
    else if (tag === 0x20) isNegativeHits = reader.bool()
    else reader.skip(tag)
  }
  reader.leave(outer)
  // One shape for all, so that code which reads them stays fast.
  return { entries, limit, hitsAddend, isNegativeHits }
}

/**
 * Envoy copies header fields of its client into entries, also bytes that are not UTF-8. It lets requests pass that get an error, so
 * with one such byte a client would pass all limits.
 */
function readEntry(): DescriptorEntry {
  let key = ''
  let value = ''
  const outer = reader.enter()
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    if (tag === 0x0a) key = reader.clientText()
    else if (tag === 0x12) value = reader.clientText()
    else reader.skip(tag)
  }
  reader.leave(outer)
  return { key, value }
}

/** A message that comes twice is one message with the fields of both. */
function readOverride(earlier: RateLimitOverride | undefined): RateLimitOverride {
  let requestsPerUnit = earlier?.requestsPerUnit ?? 0
  let unit = earlier?.unit ?? UNITS.unknown
  const outer = reader.enter()
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    if (tag === 0x08) requestsPerUnit = reader.uint32()
    else if (tag === 0x10) unit = unitOf(reader.uint32())
    else reader.skip(tag)
  }
  reader.leave(outer)
  return { requestsPerUnit, unit }
}

/** The value of a `UInt64Value`. */
function readWrapped(earlier = 0): number {
  let value = earlier
  const outer = reader.enter()
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    if (tag === 0x08) value = reader.uint64()
    else reader.skip(tag)
  }
  reader.leave(outer)
  return value
}

/** A unit that Sluice does not know counts as 0. */
function unitOf(number: number): RateLimitUnit {
  return number <= LARGEST_UNIT ? (number as RateLimitUnit) : UNITS.unknown
}
