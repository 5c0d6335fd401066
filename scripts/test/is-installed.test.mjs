import { expect, test } from 'vitest'
import { isInstalled } from '../is-installed.mjs'

const manifests = {
  '': { devDependencies: { b: '^1.0.0', a: '^2.0.0' } },
  'packages/c': { dependencies: { a: '^2.0.0' } },
}
const a = { version: '2.0.1', integrity: 'sha512-a' }
const b = { version: '1.4.0', integrity: 'sha512-b', dev: true }
const forMacs = { version: '1.4.0', integrity: 'sha512-d', optional: true, os: ['darwin'], cpu: ['arm64'] }
const here = { platform: 'linux', arch: 'x64' }
const packages = { 'node_modules/a': a, 'node_modules/b': b, 'node_modules/c': { resolved: 'packages/c', link: true } }
const lock = {
  packages: {
    '': { devDependencies: { a: '^2.0.0', b: '^1.0.0' } },
    'packages/c': { version: '1.0.0', dependencies: { a: '^2.0.0' } },
    ...packages,
    'node_modules/b-for-macs': forMacs,
  },
}
const installed = { packages: { 'packages/c': { version: '1.0.0' }, ...packages } }
const withPackage = (name, value) => ({ packages: { ...installed.packages, [`node_modules/${name}`]: value } })

test('packages that npm ci has installed count, without those for other platforms', () => {
  expect(isInstalled(lock, installed, manifests, here)).toBe(true)
})

test.each([
  ['a package is missing', withPackage('b', undefined)],
  ['a package has another version', withPackage('b', { ...b, version: '1.5.0' })],
  ['a package has other content', withPackage('a', { ...a, integrity: 'sha512-x' })],
  ['a workspace is a copy instead of a link', withPackage('c', { version: '1.0.0' })],
  ['the packages are those of another platform', withPackage('b-for-macs', forMacs)],
])('the packages do not count if %s', (_what, other) => {
  expect(isInstalled(lock, other, manifests, here)).toBe(false)
})

test('the packages do not count if a manifest has been changed since package-lock.json was written', () => {
  const changed = { ...manifests, 'packages/c': { dependencies: { a: '^3.0.0' } } }
  expect(isInstalled(lock, installed, changed, here)).toBe(false)
  expect(isInstalled(lock, installed, { ...manifests, 'packages/new': { dependencies: { a: '1' } } }, here)).toBe(false)
})
