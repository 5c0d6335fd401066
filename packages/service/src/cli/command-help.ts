import type { Command, CommandOption } from './command.js'

const WIDTH = 118
const MOST_INDENT = 28

/** The text of `sluice help COMMAND`. */
export function commandHelp(name: string, { usage, about, options, notes }: Command): string {
  const parts = [`Usage: sluice ${name} ${usage}`.trimEnd(), about, optionsHelp(options), notes]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

/** A line for each option: its name and value, then what it does. Long lines go on below, at the same indent. */
function optionsHelp(options: Readonly<Record<string, CommandOption>>): string {
  const rows = Object.entries(options).map(([name, { value, help }]) => ({
    left: `  --${name}${value === undefined ? '' : ` ${value}`}`,
    help,
  }))
  const indent = Math.min(MOST_INDENT, Math.max(...rows.map(({ left }) => left.length + 2)))
  return rows.map(({ left, help }) => left.padEnd(indent) + wrap(help, indent)).join('\n')
}

function wrap(text: string, indent: number): string {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines[lines.length - 1]
    if (line !== '' && indent + line.length + 1 + word.length > WIDTH) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.join(`\n${' '.repeat(indent)}`)
}

/** The first part of an option's help, for lists with little room: up to the first full stop, colon or semicolon. */
export function briefHelp(help: string): string {
  return help.split(/[.:;] /)[0]
}
