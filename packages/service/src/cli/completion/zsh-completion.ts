import type { Command, CommandOption } from '../command.js'
import { briefHelp } from '../command-help.js'

/** A completion script for zsh. It works as a file `_sluice` in `$fpath` and by `source`. */
export function zshCompletion(commands: Readonly<Record<string, Command>>): string {
  const listed = [...Object.entries(commands), ['help', { summary: 'shows the help of a command' }] as const]
  const described = listed.map(([name, { summary }]) => `    ${quoted(`${name}:${escaped(summary)}`)}`)
  return `#compdef sluice
# zsh completion of sluice. For this shell: source <(sluice completion zsh)
# For every shell: sluice completion zsh > a file _sluice in a folder of $fpath
_sluice() {
  local -a commands=(
${described.join('\n')}
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
${Object.entries(commands).map(commandCase).join('\n')}
    help) _describe command commands ;;
  esac
}
if [[ $funcstack[1] == _sluice ]]; then
  _sluice "$@"
else
  compdef _sluice sluice
fi
`
}

function commandCase([name, { options, operands }]: [string, Command]): string {
  const specs = [
    ...Object.entries(options).map(
      ([option, each]) => `--${option}[${escaped(briefHelp(each.help))}]${valueSpec(each)}`,
    ),
    '--help[shows the help]',
    ...(operands === 'files' ? ['*:file:_files'] : []),
    ...(typeof operands === 'object' ? [`1: :(${operands.join(' ')})`] : []),
  ]
  const lines = specs.map((spec) => `        ${quoted(spec)}`).join(' \\\n')
  return `    ${name})\n      _arguments -S \\\n${lines}\n      ;;`
}

function valueSpec({ value, choices }: CommandOption): string {
  if (value === undefined) return ''
  if (choices !== undefined) return `:${value}:(${choices.join(' ')})`
  return `:${value}:${value === 'FILE' ? '_files' : ' '}`
}

/** Escapes the characters that separate the parts of a specification. */
function escaped(text: string): string {
  return text.replace(/[\\[\]:]/g, '\\$&')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
