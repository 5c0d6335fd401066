import { createShaper } from 'sluice'

export function sluice(perSecond) {
  const shaper = createShaper({ drain: `${perSecond}/s`, capacity: 10_000_000 })
  return { run: (work) => shaper.run(work) }
}
