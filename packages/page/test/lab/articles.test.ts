import { describe, expect, it } from 'vitest'
import { settingsOf } from '../../src/lab/articles/preset.js'
import { PRESETS } from '../../src/lab/articles/presets.js'
import { DraftProblem } from '../../src/lab/settings/draft.js'
import { runLab } from '../../src/lab/settings/lab-settings.js'

const figures = PRESETS.flatMap((preset) => preset.figures().map((figure) => ({ preset: preset.id, ...figure })))

/** The preset, what its article says, and what the library decides. */
const DIFFERENT = [
  ['001-boundary', '1 allowed', '0 allowed'],
  ['001-bucket', '4 s', '2 s'],
  ['001-emails', 'at most 5', '9'],
  ['004-bucket', 'new_tokens > 0: allowed', '0.5 tokens, denied'],
  ['004-idle', '1,000,000 (2.5 times)', '0'],
  ['004-windows', '120 requests', '60 requests'],
  ['004-windows', '60 allowed', '0 allowed'],
  ['004-endpoints', '5 tokens a minute', '4.8 tokens a minute'],
  ['004-endpoints', '1 token a minute', '0.96 tokens a minute'],
  ['002-thousand', '1,001', '1,000'],
  ['002-thousand', '1,000 s', '1 s'],
  ['003-fractions', '20', '1'],
]

describe('the worked examples of the articles', () => {
  it.each(figures.filter(({ why }) => why === undefined))('$preset: $what is $article', ({ article, ours }) => {
    expect(ours).toBe(article)
  })

  it('differ from the library only where an article is not exact, or contradicts itself', () => {
    const different = figures.filter(({ why }) => why !== undefined)
    expect(different.map(({ preset, article, ours }) => [preset, article, ours])).toEqual(DIFFERENT)
  })

  it.each(PRESETS.filter(({ names }) => names !== undefined))('$id: each limit has one name', ({ limits, names }) => {
    expect(names).toHaveLength(limits.length)
  })

  it.each(PRESETS)('$id: its traffic and limits can be used', (preset) => {
    const { traffic, cost, runs } = runLab(settingsOf(preset))
    expect(traffic).not.toBeInstanceOf(DraftProblem)
    expect(cost).toBe(1)
    for (const run of runs) expect(run).toHaveProperty('totals')
  })
})
