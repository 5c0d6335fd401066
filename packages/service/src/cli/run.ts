import { readFileSync } from 'node:fs'
import { printable } from '../policy-file/policy-file-error.js'
import { type Command, type CommandIo, UsageError } from './command.js'
import { commandHelp } from './command-help.js'
import { bench } from './commands/bench.js'
import { check } from './commands/check.js'
import { completion } from './commands/completion.js'
import { explain } from './commands/explain.js'
import { serve } from './commands/serve.js'
import { top } from './commands/top.js'
import { types } from './commands/types.js'
import { validate } from './commands/validate.js'
import { meantName, parseOptions } from './parse-options.js'

const COMMANDS: Readonly<Record<string, Command>> = {
  serve,
  check,
  top,
  bench,
  validate,
  explain,
  types,
  completion: completion(() => COMMANDS),
}

const GLOBAL_OPTIONS = { help: { help: 'lists the commands' }, version: { help: 'prints the version' } }

/** Runs a command line. Returns the exit code, as {@link Command.run} defines it. */
export async function run(args: readonly string[], io: CommandIo): Promise<number> {
  try {
    return await dispatch(args, io)
  } catch (error) {
    const isExpected = error instanceof UsageError
    const message = error instanceof Error ? error.message : String(error)
    io.stderr.write(`sluice: ${isExpected ? '' : 'unexpected error: '}${printable(message)}\n`)
    return isExpected ? error.exitCode : 1
  }
}

async function dispatch([first, ...rest]: readonly string[], io: CommandIo): Promise<number> {
  if (first === undefined) {
    io.stderr.write(overview())
    return 2
  }
  if (Object.hasOwn(COMMANDS, first)) {
    if (!rest.includes('--help') && !rest.includes('-h')) return COMMANDS[first].run(rest, io)
    return print(io, commandHelp(first, COMMANDS[first]))
  }
  if (first === 'help') return print(io, rest.length === 0 ? overview() : commandHelp(rest[0], commandNamed(rest[0])))
  if (first.startsWith('-')) {
    const { values } = parseOptions([first, ...rest], GLOBAL_OPTIONS, { h: 'help', v: 'version' })
    if (values.version === true) return print(io, `${version()}\n`)
    return print(io, overview())
  }
  commandNamed(first)
  return 2
}

function commandNamed(name: string): Command {
  if (Object.hasOwn(COMMANDS, name)) return COMMANDS[name]
  const meant = meantName(name, [...Object.keys(COMMANDS), 'help'])
  const advice = meant === undefined ? `there are ${Object.keys(COMMANDS).join(', ')}` : `did you mean '${meant}'?`
  throw new UsageError(`there is no command '${name}'; ${advice}`)
}

function overview(): string {
  const lines = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(12)}${summary}`)
  return `Usage: sluice COMMAND

${lines.join('\n')}
  help        sluice help COMMAND shows the help of one command

Options: --help, --version
`
}

function version(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}

function print(io: CommandIo, text: string): number {
  io.stdout.write(text)
  return 0
}
