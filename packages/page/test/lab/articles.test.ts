import { describe, expect, it } from 'vitest'
import { settingsOf } from '../../src/lab/articles/preset.js'
import { PRESETS } from '../../src/lab/articles/presets.js'
import { DraftProblem } from '../../src/lab/settings/draft.js'
import { runLab } from '../../src/lab/settings/lab-settings.js'

const figures = PRESETS.flatMap((preset) => preset.figures().map((figure) => ({ preset: preset.id, ...figure })))

describe('the worked examples of the articles', () => {
  it.each(figures.filter(({ why }) => why === undefined))('$preset: $what is $article', ({ article, ours }) => {
    expect(ours).toBe(article)
  })

  it.each(figures.filter(({ why }) => why !== undefined))('$preset: $what differs, and says why', (figure) => {
    expect(figure.ours).not.toBe(figure.article)
  })

  it.each(PRESETS)('$id: its traffic and limits can be used', (preset) => {
    const { traffic, cost, runs } = runLab(settingsOf(preset))
    expect(traffic).not.toBeInstanceOf(DraftProblem)
    expect(cost).toBe(1)
    for (const run of runs) expect(run).toHaveProperty('totals')
  })
})
