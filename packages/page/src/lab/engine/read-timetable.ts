import { DraftProblem } from '../settings/draft.js'

const ENTRY = /^(\d{1,6})@(\d{1,9}(?:\.\d{1,6})?)$/

/**
 * Reads a list of bursts, `20@0 1@0.05`: how many requests, and at which second. Returns their times in microseconds, in order.
 * At most `most` requests.
 */
export function readTimetable(text: string, most: number): Float64Array {
  const entries = text.trim().split(/[\s,;]+/)
  const times: number[] = []
  for (const entry of entries) {
    const match = ENTRY.exec(entry)
    if (match === null)
      throw new DraftProblem(
        `The list has “${entry.slice(0, 40)}”. Write requests and seconds as in 20@0 1@0.05: 20 requests at 0 s, one at 0.05 s.`,
        'list',
      )
    const count = Number(match[1])
    if (times.length + count > most)
      throw new DraftProblem(
        `The list has more than ${most.toLocaleString('en')} requests. Use smaller bursts.`,
        'list',
      )
    const us = Math.round(Number(match[2]) * 1e6)
    for (let i = 0; i < count; i++) times.push(us)
  }
  return Float64Array.from(times).sort()
}
