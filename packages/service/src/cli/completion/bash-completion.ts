import type { Command, CommandOption } from '../command.js'

/**
 * A completion script for bash 3.2 upwards. It needs no other package. Where files are wanted it offers nothing, and bash
 * completes files by itself (`-o default`).
 */
export function bashCompletion(commands: Readonly<Record<string, Command>>): string {
  const names = Object.keys(commands)
  return `# bash completion of sluice. For this shell: source <(sluice completion bash)
# For every shell: sluice completion bash > ~/.local/share/bash-completion/completions/sluice
_sluice() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" words=''
  # Bash splits --option=value into three words.
  if [[ $cur == '=' ]]; then
    cur=''
  elif [[ $prev == '=' ]]; then
    prev="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    words='${[...names, 'help', '--help', '--version'].join(' ')}'
  else
    case "\${COMP_WORDS[1]}" in
${Object.entries(commands).map(commandCase).join('\n')}
    help) words='${names.join(' ')}' ;;
    esac
  fi
  # Bash offers files where this function does not say otherwise.
  if [[ -z $words ]]; then return; fi
  compopt +o default 2> /dev/null
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _sluice sluice
`
}

/** The words after one command. An empty list of words means files, and a list of one space means nothing. */
function commandCase([name, { options, operands }]: [string, Command]): string {
  const flags = [...Object.keys(options), 'help'].map((option) => `--${option}`).join(' ')
  const rest = typeof operands === 'object' ? `${operands.join(' ')} ${flags}` : flags
  const values = Object.entries(options).flatMap(([option, each]) => {
    const words = valueWords(each)
    return words === undefined ? [] : [`      --${option}) words='${words}' ;;`]
  })
  const others = operands === 'files' ? `if [[ $cur == -* ]]; then words='${flags}'; fi` : `words='${rest}'`
  return `    ${name})
      case "$prev" in
${[...values, `      *) ${others} ;;`].join('\n')}
      esac
      ;;`
}

function valueWords({ value, choices }: CommandOption): string | undefined {
  if (value === undefined) return undefined
  if (choices !== undefined) return choices.join(' ')
  return value === 'FILE' ? '' : ' '
}
