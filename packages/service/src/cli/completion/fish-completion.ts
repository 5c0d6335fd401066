import type { Command, CommandOption } from '../command.js'
import { briefHelp } from '../command-help.js'

/** A completion script for fish. */
export function fishCompletion(commands: Readonly<Record<string, Command>>): string {
  const names = Object.keys(commands)
  const first = Object.entries(commands).map(
    ([name, { summary }]) => `complete -c sluice -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
  )
  return `# fish completion of sluice. For this shell: sluice completion fish | source
# For every shell: sluice completion fish > ~/.config/fish/completions/sluice.fish
complete -c sluice -f
${first.join('\n')}
complete -c sluice -n __fish_use_subcommand -a help -d 'shows the help of a command'
complete -c sluice -n __fish_use_subcommand -l version -d 'prints the version'
complete -c sluice -n '__fish_seen_subcommand_from help' -a '${names.join(' ')}'
complete -c sluice -l help -d 'shows the help'
${Object.entries(commands).flatMap(commandLines).join('\n')}
`
}

function commandLines([name, { options, operands }]: [string, Command]): readonly string[] {
  const start = `complete -c sluice -n '__fish_seen_subcommand_from ${name}'`
  return [
    ...(operands === 'files' ? [`${start} -F`] : []),
    ...(typeof operands === 'object' ? [`${start} -a '${operands.join(' ')}'`] : []),
    ...Object.entries(options).map(
      ([option, each]) => `${start} -l ${option}${valueSpec(each)} -d ${quoted(briefHelp(each.help))}`,
    ),
  ]
}

function valueSpec({ value, choices }: CommandOption): string {
  if (value === undefined) return ''
  if (choices !== undefined) return ` -x -a '${choices.join(' ')}'`
  return value === 'FILE' ? ' -r -F' : ' -x'
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
