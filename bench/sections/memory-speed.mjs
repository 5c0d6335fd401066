import { deciders } from '../contenders.mjs'
import { versions } from '../versions.mjs'
import { speedGoals } from './memory-speed/goals.mjs'
import { measureSpeed } from './memory-speed/measure.mjs'
import { renderSpeed } from './memory-speed/render.mjs'

/** The cost of a decision in memory. */
export const memorySpeed = {
  name: 'memory-speed',
  title: 'Memory: time of a decision',
  measure: ({ full }) => ({
    versions: versions(deciders.filter((contender) => contender !== 'map')),
    ...measureSpeed({ full }),
  }),
  render: renderSpeed,
  goals: speedGoals,
}
