import { draftOf } from '../settings/draft.js'
import type { LabSettings } from '../settings/lab-settings.js'
import { type LabAlgorithm, type LimitDraft, limitKnobs } from '../settings/limit-draft.js'
import { type TrafficDraft, trafficDraft } from '../settings/traffic-draft.js'

/** A figure that an article works out, beside what the library decides. */
export interface Figure {
  readonly what: string
  readonly article: string
  readonly ours: string
  /** Why the two differ. Figures without it are equal. */
  readonly why?: string
}

/** A worked example of an article: settings that show it, and its figures. */
export interface Preset {
  readonly id: string
  /** The article's title, as a reader remembers it. */
  readonly article: string
  readonly title: string
  /** What to look at. */
  readonly about: string
  readonly traffic: TrafficDraft
  readonly limits: readonly LimitDraft[]
  /** What each limit is called in the article, if it has names. */
  readonly names?: readonly string[]
  /** The figures, counted when they are asked for. */
  readonly figures: () => readonly Figure[]
}

/** The settings of a preset, as a person begins with them. */
export function settingsOf({ id, traffic, limits }: Preset): LabSettings {
  return { traffic, cost: '1', limits, preset: id }
}

/** Limits as presets write them: `limits(['token-bucket', '20', '5/s'])`, with values in the order of the knobs. */
export function limits(...given: readonly (readonly [LabAlgorithm, ...string[]])[]): readonly LimitDraft[] {
  return given.map(([algorithm, ...values]) => {
    const knobs = limitKnobs(algorithm)
    const named = values.map((value, i) => [knobs[i].name, value] as const)
    return draftOf(algorithm, knobs, Object.fromEntries(named))
  })
}

/** Bursts at seconds: `bursts('20@0 1@0.05', '2s')`. */
export function bursts(list: string, length: string): TrafficDraft {
  return trafficDraft('list', { list, length })
}
