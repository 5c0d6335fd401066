import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { COUNTS_OF_A_LEVEL, type LiveFrame } from '../../../service/src/live/live-events.js'
import { durationText, rateText } from '../../src/parts/number-text.js'
import { openPage } from './open-page.js'
import { ADMIN_TOKEN, startPageService } from './page-service.js'
import { pauseLive } from './pause-live.js'
import { readFrames } from './read-frames.js'

const LEVELS = [
  { name: 'all', limit: { algorithm: 'token-bucket', capacity: 1_000, refill: '1/1h' } },
  { name: 'merchant', key: ['merchant'], limit: { algorithm: 'token-bucket', capacity: 30, refill: '1/1h' } },
]
const ALLOWED = 30
const DENIED = 12
const WITHIN = { timeout: 10_000 }
/** Rates of levels are means of so many frames. */
const MEAN_OF = 10

test('the figures are those of the requests that were sent', async () => {
  const service = await startPageService({ levels: LEVELS })
  const page = await openPage(`${service.url}/#live?window=1m`)
  const reader = await readFrames(service.url)
  expect(await service.check({ merchant: 'acct_1' }, ALLOWED + DENIED)).toBe(ALLOWED)
  await reader.has(ALLOWED + DENIED)
  await expect.poll(() => page.getByRole('row', { name: /^merchant/ }).textContent(), WITHIN).toMatch(/[1-9].*\/s/)
  await pauseLive(page)
  const shown = framesUntil(reader.frames, await clockOf(page))
  for (const frames of shown) {
    expect(sum(frames, ({ allowed }) => allowed)).toBe(ALLOWED)
    expect(sum(frames, ({ denied }) => denied)).toBe(DENIED)
  }
  expect(shown.map(busySeconds)).toContainEqual(await chartRows(page))
  expect(shown.map((frames) => ratesOf(frames, 1))).toContainEqual(await levelRow(page, 'merchant'))
  expect(shown.map((frames) => ratesOf(frames, 0))).toContainEqual(await levelRow(page, 'all'))
  expect(shown.map(latencies)).toContainEqual(await tableRows(page, /^Latency/))
  const facts = page.getByRole('region', { name: 'This process' })
  expect(await facts.getByText(String(process.pid), { exact: true }).count()).toBe(1)
})

test('a page outlives a restart of the service, and goes on with what the next process says', async () => {
  const service = await startPageService({ levels: LEVELS })
  const page = await openPage(service.url, { expected: [/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED/] })
  await page.getByRole('status').getByText('Live', { exact: true }).waitFor()
  await service.close()
  await page.getByText('Not connected').waitFor()
  await page.getByText(/The service has stopped/).waitFor()
  const next = await startPageService({ levels: LEVELS.slice(1), port: service.port })
  await page.getByRole('status').getByText('Live', { exact: true }).waitFor()
  await page.getByRole('heading', { name: 'Levels (1)' }).waitFor()
  await next.check({ merchant: 'acct_1' }, ALLOWED + DENIED)
  await expect.poll(() => page.getByRole('row', { name: /^merchant/ }).textContent(), WITHIN).toMatch(/[1-9].*\/s/)
})

test('a quiet level shows its own busiest keys, though none of them is busy among those of all levels', async () => {
  const limit = { algorithm: 'token-bucket', capacity: 2, refill: '1/1h' }
  const levels = [
    { name: 'busy', key: ['merchant'], limit },
    { name: 'quiet', key: ['user'], limit },
  ]
  const service = await startPageService({ levels })
  const busy = Array.from({ length: 25 }, (_, i) => service.check({ merchant: `acct_${i}` }, 4))
  await Promise.all([...busy, service.check({ user: 'user_quiet' }, 3)])
  const page = await openPage(`${service.url}/#token=${ADMIN_TOKEN}`)
  await page.getByRole('link', { name: 'quiet', exact: true }).click()
  const own = page.getByRole('region', { name: 'Its top keys' })
  await own.getByText('user_quiet').first().waitFor()
  expect(await own.getByRole('listitem').allTextContents()).toEqual(['user_quiet3', 'user_quiet1'])
  const all = page.getByRole('region', { name: 'Top keys', exact: true })
  await expect
    .poll(() => all.getByRole('listitem').allTextContents(), WITHIN)
    .toEqual(Array(10).fill(expect.stringMatching(/^acct_\d+busy4$/)))
  await all.getByRole('radio', { name: 'Denials' }).check()
  await expect
    .poll(() => all.getByRole('listitem').allTextContents(), WITHIN)
    .toEqual(Array(10).fill(expect.stringMatching(/^acct_\d+busy2$/)))
})

/** The time of the last frame that the page shows. */
async function clockOf(page: Page): Promise<string> {
  const text = await page
    .getByText(/^\d\d:\d\d:\d\d$/)
    .first()
    .textContent()
  return text ?? ''
}

/** All frames up to the one at this time of the day. Two frames may be in one second: then there are two answers. */
function framesUntil(frames: readonly LiveFrame[], clock: string): readonly (readonly LiveFrame[])[] {
  return frames.flatMap(({ atMs }, last) => (clockText(atMs) === clock ? [frames.slice(0, last + 1)] : []))
}

/** What the chart says of frames with decisions: time, admitted, denied. */
function busySeconds(frames: readonly LiveFrame[]): readonly string[][] {
  const busy = frames.filter(({ allowed, denied }) => allowed + denied > 0)
  const rate = (count: number, { elapsedMs }: LiveFrame) => rateText((count * 1_000) / elapsedMs)
  return busy.map((frame) => [clockText(frame.atMs), rate(frame.allowed, frame), rate(frame.denied, frame)])
}

function clockText(atMs: number): string {
  return new Date(atMs).toISOString().slice(11, 19)
}

function sum(frames: readonly LiveFrame[], countOf: (frame: LiveFrame) => number): number {
  return frames.reduce((total, frame) => total + countOf(frame), 0)
}

/** The same as the page shows it, the oldest first. */
async function chartRows(page: Page): Promise<readonly string[][]> {
  const rows = await tableRows(page, /^Decisions per second/)
  const busy = rows.filter(([, allowed, denied]) => allowed !== '0/s' || denied !== '0/s')
  return busy.map((cells) => cells.slice(0, 3))
}

/** The table under a chart, the oldest row first. Rows without decisions have no latency. */
async function tableRows(page: Page, name: RegExp): Promise<readonly string[][]> {
  const chart = page.locator('figure').filter({ has: page.getByRole('group', { name }) })
  await chart.getByText('Show as table').click()
  const table = page.getByRole('table', { name })
  await table.waitFor()
  const rows = await table
    .getByRole('row')
    .evaluateAll((all) => all.map((row) => [...row.querySelectorAll('th, td')].map((cell) => cell.textContent ?? '')))
  return rows
    .slice(1)
    .reverse()
    .filter(([, ...values]) => values.some((text) => text !== '–'))
}

/** What the chart of latencies says of frames with decisions: time, p50, p99. */
function latencies(frames: readonly LiveFrame[]): readonly string[][] {
  const busy = frames.filter(({ allowed, denied }) => allowed + denied > 0)
  return busy.map(({ atMs, p50Ms, p99Ms }) => [clockText(atMs), durationText(p50Ms), durationText(p99Ms)])
}

/** What the table of levels says of one: admitted and denied. */
async function levelRow(page: Page, level: string): Promise<readonly string[]> {
  const cells = page
    .getByRole('row')
    .filter({ has: page.getByRole('link', { name: level, exact: true }) })
    .getByRole('cell')
  return (await cells.allTextContents()).slice(0, 2)
}

/** The same from frames. */
function ratesOf(frames: readonly LiveFrame[], level: number): readonly string[] {
  const last = frames.slice(-MEAN_OF)
  const elapsedMs = sum(last, (frame) => frame.elapsedMs)
  return [0, 1].map((count) => {
    const total = sum(last, ({ levels }) => levels[level * COUNTS_OF_A_LEVEL + count])
    return rateText((total * 1_000) / elapsedMs)
  })
}
