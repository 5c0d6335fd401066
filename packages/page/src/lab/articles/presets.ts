import type { LabSettings } from '../settings/lab-settings.js'
import { article000 } from './article-000.js'
import { article001 } from './article-001.js'
import { article001Fleet } from './article-001-fleet.js'
import { article002 } from './article-002.js'
import { article003 } from './article-003.js'
import { article004 } from './article-004.js'
import { type Preset, settingsOf } from './preset.js'

/** The worked examples of all articles. The lab opens with the first one. */
export const PRESETS: readonly Preset[] = [
  ...article001,
  ...article001Fleet,
  ...article004,
  ...article000,
  ...article002,
  ...article003,
]

/** What the lab shows before a person has set anything. */
export const FIRST_SETTINGS: LabSettings = settingsOf(PRESETS[0])

/** The preset that settings began with, if there is one. */
export function presetOf({ preset }: LabSettings): Preset | undefined {
  return PRESETS.find(({ id }) => id === preset)
}

/** The titles of the articles, in order. */
export function articlesOf(presets: readonly Preset[]): readonly string[] {
  return [...new Set(presets.map(({ article }) => article))]
}
