import { ProtoWriter } from '../protobuf/proto-writer.js'
import type { DescriptorStatus, HeaderValue, RateLimitResponse } from './rate-limit-request.js'
import { writeStruct } from './write-struct.js'

const writer = new ProtoWriter()

/** Writes a `RateLimitResponse`. Numbers that do not fit are the largest that do. */
export function writeRateLimitResponse(response: RateLimitResponse): Uint8Array {
  const { overallCode, statuses, responseHeaders, requestHeaders, rawBody, metadata } = response
  writer.begin()
  if (overallCode !== 0) writer.uint32(0x08, overallCode)
  for (let i = 0; i < statuses.length; i++) writeStatus(statuses[i])
  for (let i = 0; i < responseHeaders.length; i++) writeHeader(0x1a, responseHeaders[i])
  for (let i = 0; i < requestHeaders.length; i++) writeHeader(0x22, requestHeaders[i])
  if (rawBody !== undefined && rawBody.length > 0) writer.bytes(0x2a, rawBody)
  if (metadata !== undefined) {
    const start = writer.open(0x32)
    writeStruct(writer, metadata)
    writer.close(start)
  }
  return writer.end()
}

function writeStatus({ code, currentLimit, limitRemaining, untilResetMs }: DescriptorStatus): void {
  const start = writer.open(0x12)
  if (code !== 0) writer.uint32(0x08, code)
  if (currentLimit !== undefined) {
    const limit = writer.open(0x12)
    if (currentLimit.requestsPerUnit !== 0) writer.uint32(0x08, currentLimit.requestsPerUnit)
    if (currentLimit.unit !== 0) writer.uint32(0x10, currentLimit.unit)
    if (currentLimit.name !== '') writer.text(0x1a, currentLimit.name)
    writer.close(limit)
  }
  if (limitRemaining !== 0) writer.uint32(0x18, limitRemaining)
  if (untilResetMs !== undefined) writeDuration(0x22, untilResetMs)
  writer.close(start)
}

/** The longest `google.protobuf.Duration`, about 10,000 years. */
const LONGEST_SECONDS = 315_576_000_000

function writeDuration(tag: number, ms: number): void {
  const seconds = Math.min(Math.floor(ms / 1_000), LONGEST_SECONDS)
  const nanos = seconds === LONGEST_SECONDS ? 0 : Math.round((ms - seconds * 1_000) * 1_000_000)
  const start = writer.open(tag)
  if (seconds !== 0) writer.uint64(0x08, seconds)
  if (nanos !== 0) writer.uint32(0x10, nanos)
  writer.close(start)
}

function writeHeader(tag: number, { key, value }: HeaderValue): void {
  const start = writer.open(tag)
  if (key !== '') writer.text(0x0a, key)
  if (value !== '') writer.text(0x12, value)
  writer.close(start)
}
