import { describe, expect, test } from 'vitest'
import { findExportProblems, findVersionProblems } from '../check-exports.mjs'

const manifest = {
  files: ['dist', '!dist/**/*.tsbuildinfo', 'README.md'],
  exports: {
    '.': { types: './dist/index.d.ts', default: './dist/index.js' },
    './limits': { types: './dist/limits/index.d.ts', default: './dist/limits/index.js' },
    './package.json': './package.json',
  },
}
const onDisk = [
  'dist',
  'README.md',
  './package.json',
  './dist/index.d.ts',
  './dist/index.js',
  './dist/limits/index.d.ts',
  './dist/limits/index.js',
  './dist/stores/index.js',
]

describe('findExportProblems', () => {
  test('accepts a package whose promises are kept', () => {
    expect(findExportProblems(manifest, (path) => onDisk.includes(path))).toEqual([])
  })

  test('reports a target that the build did not make', () => {
    const exists = (path) => onDisk.includes(path) && path !== './dist/limits/index.d.ts'
    expect(findExportProblems(manifest, exists)).toEqual(['exports ./dist/limits/index.d.ts, which does not exist'])
  })

  test('reports an entry of files that is not there', () => {
    const exists = (path) => onDisk.includes(path) && path !== 'README.md'
    expect(findExportProblems(manifest, exists)).toEqual(['lists README.md in files, which does not exist'])
  })

  test('reports a public folder that is not exported', () => {
    const exists = (path) => [...onDisk, './dist/testing/index.js'].includes(path)
    expect(findExportProblems(manifest, exists)).toEqual(['has ./dist/testing/index.js, which it does not export'])
  })
})

describe('findVersionProblems', () => {
  test('accepts one version everywhere', () => {
    expect(findVersionProblems([{ version: '1.0.0' }, { version: '1.0.0' }])).toEqual([])
  })

  test('reports a package that was left behind', () => {
    const manifests = [
      { name: 'root', version: '1.1.0' },
      { name: 'sluice', version: '1.0.0' },
    ]
    expect(findVersionProblems(manifests)).toEqual(['sluice has version 1.0.0, root has 1.1.0'])
  })
})
