import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** An entry of package-lock.json. */
interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly hasInstallScript?: boolean
  readonly link?: boolean
  readonly resolved?: string
}

const root = new URL('../../../', import.meta.url)
const lock = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>
}

/** The place of a package in the lock, seen from another: the nearest node_modules above it. */
function placeOf(name: string, from: string): string {
  for (let folder = from; ; folder = folder.includes('/') ? folder.slice(0, folder.lastIndexOf('/')) : '') {
    const place = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    const found = lock.packages[place]
    if (found !== undefined) return found.link === true ? (found.resolved as string) : place
    if (folder === '') throw new Error(`${from} needs ${name}, which is not in package-lock.json`)
  }
}

/** Every package that an installation of sluice-service brings, itself included. */
function installed(): ReadonlyMap<string, Locked> {
  const found = new Map<string, Locked>()
  const add = (place: string) => {
    if (found.has(place)) return
    const locked = lock.packages[place]
    found.set(place, locked)
    for (const name of Object.keys({ ...locked.dependencies, ...locked.optionalDependencies }))
      add(placeOf(name, place))
  }
  add('packages/service')
  return found
}

test('sluice-service installs at most 24 packages, as the README says', () => {
  const places = [...installed().keys()]
  expect(places).toContain('packages/sluice')
  expect(places.length).toBeLessThanOrEqual(24)
})

test('no package of the installation runs a script', () => {
  expect([...installed()].filter(([, { hasInstallScript }]) => hasInstallScript === true)).toEqual([])
})

test('the README names every direct dependency', () => {
  const readme = readFileSync(new URL('packages/service/README.md', root), 'utf8')
  for (const name of Object.keys(lock.packages['packages/service'].dependencies ?? {})) expect(readme).toContain(name)
})
