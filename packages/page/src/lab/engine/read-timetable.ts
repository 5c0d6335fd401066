import { DraftProblem } from '../settings/draft.js'

const SECONDS = String.raw`(\d{1,9}(?:\.\d{1,6})?)`
const ENTRY = new RegExp(String.raw`^(\d{1,6})@${SECONDS}(?:\+${SECONDS}x(\d{1,6}))?$`)

/**
 * Reads a list of bursts, `20@0 1@2+0.5x10`: 20 requests at second 0, and from second 2 on one each half second, ten times.
 * Returns their times in microseconds, in order. At most `most` requests.
 */
export function readTimetable(text: string, most: number): Float64Array {
  const times: number[] = []
  for (const entry of text.trim().split(/[\s,;]+/)) {
    const match = ENTRY.exec(entry)
    if (match === null)
      throw new DraftProblem(
        `The list has “${entry.slice(0, 40)}”. Write requests and seconds as in 20@0 1@0.05: 20 requests at 0 s, one at 0.05 s.`,
        'list',
      )
    const [, count, at, every = '0', repeats = '1'] = match
    // A million times nothing takes time all the same.
    if (Number(count) === 0) continue
    if (times.length + Number(count) * Number(repeats) > most)
      throw new DraftProblem(
        `The list has more than ${most.toLocaleString('en')} requests. Use smaller bursts.`,
        'list',
      )
    for (let i = 0; i < Number(repeats); i++) {
      const us = Math.round((Number(at) + i * Number(every)) * 1e6)
      for (let j = 0; j < Number(count); j++) times.push(us)
    }
  }
  return Float64Array.from(times).sort()
}
