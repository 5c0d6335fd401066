import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sluice } from './run-cli.js'
import { hasTerminal, Terminal } from './terminal.js'

let folder: string
const scripts: Record<string, string> = {}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-completion-'))
  await writeFile(join(folder, 'my policy.yaml'), '')
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout, stderr } = await sluice(['completion', shell])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    scripts[shell] = stdout
    await writeFile(join(folder, `complete.${shell}`), stdout)
  }
})

afterAll(() => rm(folder, { recursive: true }))

const has = (shell: string) => spawnSync(shell, ['--version']).status === 0

/** What bash offers for the last word: the reply of the function that it calls. */
function offered(...words: readonly string[]): readonly string[] {
  const quoted = words.map((word) => `'${word}'`).join(' ')
  const program = `. complete.bash; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _sluice; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', program], { cwd: folder, encoding: 'utf8' })
  expect(stderr).toBe('')
  return stdout.split('\n').filter((word) => word !== '')
}

describe.skipIf(!has('bash'))('bash', () => {
  test('completes commands', () => {
    expect(offered('sluice', '')).toEqual([
      ...['serve', 'check', 'top', 'bench', 'validate', 'explain', 'types', 'completion', 'help'],
      ...['--help', '--version'],
    ])
    expect(offered('sluice', 'ser')).toEqual(['serve'])
    expect(offered('sluice', 'help', 'ex')).toEqual(['explain'])
  })

  test('completes options, their values and arguments', () => {
    expect(offered('sluice', 'serve', '--on')).toEqual(['--on-failure'])
    expect(offered('sluice', 'serve', '--on-failure', '')).toEqual(['open', 'closed', 'local'])
    expect(offered('sluice', 'serve', '--log', 'j')).toEqual(['json'])
    expect(offered('sluice', 'serve', '--log', '=', 'j')).toEqual(['json'])
    expect(offered('sluice', 'serve', '--log', '=')).toEqual(['json', 'text', 'off'])
    expect(offered('sluice', 'completion', 'z')).toEqual(['zsh'])
    expect(offered('sluice', 'validate', '--j')).toEqual(['--json'])
  })

  test('leaves files to bash, and offers nothing for a free text', () => {
    expect(offered('sluice', 'serve', '--policy', '')).toEqual([])
    expect(offered('sluice', 'validate', '')).toEqual([])
    expect(offered('sluice', 'check', '--cost', '')).toEqual([])
  })

  test.skipIf(!hasTerminal)('the Tab key completes on a terminal', async () => {
    const shell = new Terminal('bash --norc --noprofile -i', { HISTFILE: '' })
    try {
      shell.type(`cd ${folder} && . ./complete.bash && echo loa'ded'\n`)
      await shell.shows(/loaded\r\n/)
      shell.type('sluice val\tmy\t')
      await shell.shows(/sluice validate my\\ policy\.yaml /)
      shell.type('\u0015sluice serve --pol\t')
      await shell.shows(/sluice serve --policy /)
      shell.type('\u0015exit\n')
      expect(await shell.ended).toBe(0)
    } finally {
      shell.kill()
    }
  })
})

test.skipIf(!has('fish'))('fish completes commands, options and values', () => {
  const complete = (line: string) => {
    const program = `source complete.fish; complete -C ${JSON.stringify(line)}`
    const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', program], { cwd: folder, encoding: 'utf8' })
    expect(stderr).toBe('')
    return stdout.split('\n').map((each) => each.split('\t')[0])
  }
  expect(complete('sluice va')).toContain('validate')
  expect(complete('sluice serve --on')).toContain('--on-failure')
  expect(complete('sluice serve --log ')).toEqual(expect.arrayContaining(['json', 'text', 'off']))
  expect(complete('sluice validate my')[0]).toMatch(/^my.* policy\.yaml$/)
})

test.skipIf(!has('zsh') || !hasTerminal)('the Tab key of zsh completes commands and options', async () => {
  const shell = new Terminal('zsh -f -i')
  try {
    shell.type(`cd ${folder} && autoload -U compinit && compinit -D && . ./complete.zsh && echo loa'ded'\n`)
    await shell.shows(/loaded\r\n/)
    // zsh writes the words one by one, with colours between them.
    shell.type('sluice vali\t--j\t')
    await shell.shows(/sluice validate.* --json/s)
    shell.type('\u0015exit\n')
    await shell.ended
  } finally {
    shell.kill()
  }
})

test('every command and option is in every script', async () => {
  const { stdout } = await sluice(['completion', '--json'])
  const table = JSON.parse(stdout) as Record<string, { readonly options: Record<string, object> }>
  expect(Object.keys(table)).toContain('serve')
  for (const [name, { options }] of Object.entries(table)) {
    for (const script of Object.values(scripts)) expect(script).toContain(name)
    for (const option of Object.keys(options)) {
      expect(scripts.bash).toContain(`--${option}`)
      expect(scripts.zsh).toContain(`--${option}[`)
      expect(scripts.fish).toContain(`-l ${option}`)
    }
    expect(Object.keys(options), `${name} prints JSON`).toContain('json')
  }
})

test.each([[[]], [['tcsh']], [['bash', 'zsh']]])('completion %j names the shells', async (args) => {
  const { code, stderr } = await sluice(['completion', ...args])
  expect(code).toBe(2)
  expect(stderr).toBe('sluice: completion needs one shell: sluice completion bash, zsh or fish\n')
})
