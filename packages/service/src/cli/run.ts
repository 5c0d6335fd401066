import { readFileSync } from 'node:fs'
import { printable } from '../policy-file/printable.js'
import type { Command } from './command.js'
import { explain } from './commands/explain.js'
import { types } from './commands/types.js'
import { validate } from './commands/validate.js'
import type { Io } from './io.js'
import { nearest } from './nearest.js'
import { parseOptions } from './parse-options.js'
import { UsageError } from './usage-error.js'

const COMMANDS: Readonly<Record<string, Command>> = { validate, explain, types }

/** Runs the command line and gives its exit code: 0 is well, 1 is a problem in a file, 2 is a wrong command line. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatch(args, io)
  } catch (error) {
    const isExpected = error instanceof UsageError
    const message = error instanceof Error ? error.message : String(error)
    io.stderr.write(`sluice: ${isExpected ? '' : 'this should not have happened: '}${printable(message)}\n`)
    return isExpected ? error.exitCode : 1
  }
}

async function dispatch([first, ...rest]: readonly string[], io: Io): Promise<number> {
  if (first === undefined) {
    io.stderr.write(overview())
    return 2
  }
  if (Object.hasOwn(COMMANDS, first)) {
    if (!rest.includes('--help') && !rest.includes('-h')) return COMMANDS[first].run(rest, io)
    return print(io, COMMANDS[first].help)
  }
  if (first === 'help') return print(io, rest.length === 0 ? overview() : commandNamed(rest[0]).help)
  if (first.startsWith('-')) {
    const { values } = parseOptions([first, ...rest], { help: 'flag', version: 'flag' }, { h: 'help', v: 'version' })
    if (values.version === true) return print(io, `${version()}\n`)
    return print(io, overview())
  }
  commandNamed(first)
  return 2
}

function commandNamed(name: string): Command {
  if (Object.hasOwn(COMMANDS, name)) return COMMANDS[name]
  const meant = nearest(name, [...Object.keys(COMMANDS), 'help'])
  const advice = meant === undefined ? `there are ${Object.keys(COMMANDS).join(', ')}` : `did you mean '${meant}'?`
  throw new UsageError(`there is no command '${name}'; ${advice}`)
}

function overview(): string {
  const lines = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`)
  return `Usage: sluice COMMAND

${lines.join('\n')}
  help      sluice help COMMAND says more about one

Options: --help, --version
`
}

function version(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}

function print(io: Io, text: string): number {
  io.stdout.write(text)
  return 0
}
