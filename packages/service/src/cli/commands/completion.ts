import { type Command, UsageError } from '../command.js'
import { bashCompletion } from '../completion/bash-completion.js'
import { fishCompletion } from '../completion/fish-completion.js'
import { zshCompletion } from '../completion/zsh-completion.js'
import { parseOptions } from '../parse-options.js'

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }

const OPTIONS = {
  json: { help: 'prints all commands and their options as JSON, for other tools' },
} as const

/** The command that prints completion scripts. `all` returns the table of all commands, this one included. */
export function completion(all: () => Readonly<Record<string, Command>>): Command {
  return {
    summary: 'prints a completion script for bash, zsh or fish',
    usage: 'bash|zsh|fish [--json]',
    about: 'Prints a script with which a shell completes the commands, options and files of sluice.',
    options: OPTIONS,
    notes: `  $ source <(sluice completion bash)
  $ source <(sluice completion zsh)
  $ sluice completion fish | source

Exit code: 0; 2 if the command line is wrong.`,
    operands: Object.keys(SHELLS),
    async run(args, io) {
      const { values, positionals } = parseOptions(args, OPTIONS)
      if (values.json === true) {
        io.stdout.write(`${JSON.stringify(tableOf(all()), null, 2)}\n`)
        return 0
      }
      const [shell, ...more] = positionals
      if (shell === undefined || more.length > 0 || !Object.hasOwn(SHELLS, shell))
        throw new UsageError('completion needs one shell: sluice completion bash, zsh or fish')
      io.stdout.write(SHELLS[shell as keyof typeof SHELLS](all()))
      return 0
    },
  }
}

function tableOf(commands: Readonly<Record<string, Command>>): object {
  return Object.fromEntries(
    Object.entries(commands).map(([name, { summary, usage, options, operands }]) => [
      name,
      { summary, usage: `sluice ${name} ${usage}`, options, operands },
    ]),
  )
}
