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
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const lock = JSON.parse(read('package-lock.json')) as {
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

/** The name of the package at a place: `node_modules/@ioredis/commands` holds `@ioredis/commands`. */
function nameAt(place: string): string {
  if (!place.includes('node_modules/')) return JSON.parse(read(`${place}/package.json`)).name
  return place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

test('the README lists every package of an installation, with a reason, and no other', () => {
  const [, section] = read('docs/sluice-service.md').split('## What an installation brings')
  const rows = [...section.split('\n## ')[0].matchAll(/^\| `(\S+)` +\|[^|]*\| *\S[^|]*\|$/gm)]
  const listed = rows.map(([, name]) => name).sort()
  expect(listed).toEqual([...installed().keys()].map(nameAt).sort())
  expect(section).toContain(`\n${listed.length} packages, `)
})

test('no package of the installation runs a script', () => {
  expect([...installed()].filter(([, { hasInstallScript }]) => hasInstallScript === true)).toEqual([])
})
