// The last results of each section, kept in bench/results/<section>.json: measuring one section again does not change the
// others.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { machine } from './machine.mjs'

const folder = new URL('./results/', import.meta.url)

/** `{ date, command, machine, data }`, or undefined if the section was never measured. */
export function readResult(name) {
  const file = fileOf(name)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}

export function keepResult(name, command, data) {
  const date = new Date().toISOString().slice(0, 10)
  mkdirSync(folder, { recursive: true })
  writeFileSync(fileOf(name), `${JSON.stringify({ date, command, machine: machine(), data }, null, 2)}\n`)
}

function fileOf(name) {
  return new URL(`${name}.json`, folder)
}
