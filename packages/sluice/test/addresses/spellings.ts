/** Random addresses and their spellings. */
import fc, { type Arbitrary } from 'fast-check'

const group = fc.oneof(fc.constantFrom(0, 0, 0, 1, 0xffff), fc.integer({ min: 0, max: 0xffff }))

/** Eight groups. Many are zero, because spellings differ in how they write zeros. */
export const v6Groups: Arbitrary<readonly number[]> = fc.array(group, { minLength: 8, maxLength: 8 })

/** Without IPv4 addresses written as IPv6. */
export const plainV6Groups = v6Groups.filter((groups) => !isMapped(groups))

export const v4Bytes: Arbitrary<readonly number[]> = fc.array(fc.integer({ min: 0, max: 255 }), {
  minLength: 4,
  maxLength: 4,
})

export function isMapped(groups: readonly number[]): boolean {
  return groups[5] === 0xffff && groups.slice(0, 5).every((each) => each === 0)
}

interface Style {
  readonly upper: boolean
  readonly padded: boolean
  readonly dotted: boolean
  /** The run of zeros that is written as `::`, if any. */
  readonly run: number
}

export const styles: Arbitrary<Style> = fc.record({
  upper: fc.boolean(),
  padded: fc.boolean(),
  dotted: fc.boolean(),
  run: fc.integer({ min: 0, max: 20 }),
})

/** A spelling of an IPv6 address that RFC 4291 allows. */
export function spell(groups: readonly number[], { upper, padded, dotted, run }: Style): string {
  const hex = groups.map((each) => each.toString(16).padStart(padded ? 4 : 1, '0'))
  const tail = dotted ? [`${groups[6] >> 8}.${groups[6] & 255}.${groups[7] >> 8}.${groups[7] & 255}`] : hex.slice(6)
  const parts = [...hex.slice(0, 6), ...tail]
  const runs = zeroRuns(groups, dotted ? 6 : 8)
  const [start, length] = runs[run] ?? [0, 0]
  const text =
    length === 0 ? parts.join(':') : `${parts.slice(0, start).join(':')}::${parts.slice(start + length).join(':')}`
  return upper ? text.toUpperCase() : text
}

/** Every run of zeros, of any length. */
function zeroRuns(groups: readonly number[], until: number): [start: number, length: number][] {
  const runs: [number, number][] = []
  for (let start = 0; start < until; start++) {
    for (let end = start; end < until && groups[end] === 0; end++) runs.push([start, end - start + 1])
  }
  return runs
}
