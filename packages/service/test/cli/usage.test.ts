import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { EXAMPLE, sluice, sluiceHere } from './run-cli.js'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

test.each([[['--help']], [['help']], [['-h']]])('%j lists the commands', async (args) => {
  const { code, stdout } = await sluiceHere(args)
  expect(code).toBe(0)
  for (const name of ['validate', 'explain', 'types']) expect(stdout).toContain(`  ${name}`)
})

test.each(['validate', 'explain', 'types'])('%s has its own help', async (name) => {
  const { code, stdout } = await sluiceHere(['help', name])
  expect(code).toBe(0)
  expect(stdout).toMatch(new RegExp(`^Usage: sluice ${name} FILE`))
  expect((await sluiceHere([name, '--help'])).stdout).toBe(stdout)
})

test.each([['--version'], ['-v']])('%s prints the version', async (option) => {
  expect(await sluice([option])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

const REQUEST = ['--request', '{}']

test.each([
  [['valdate'], "there is no command 'valdate'; did you mean 'validate'?"],
  [
    ['frobnicate'],
    "there is no command 'frobnicate'; there are serve, check, top, bench, validate, explain, types, completion",
  ],
  [['valid'], "did you mean 'validate'?"],
  [['serve', '--prot', '8080'], 'there is no option --prot; did you mean --http HOST:PORT?'],
  [['serve', '--port', '8080'], 'did you mean --http HOST:PORT?'],
  [['serve', '--token', 'x'], 'did you mean --admin-token TEXT?'],
  [['serve', '--pol', 'x'], 'did you mean --policy FILE?'],
  [['serve', '--redis', 'x'], 'did you mean --store STORE?'],
  [['top', '--tokn', 'x'], 'did you mean --admin-token TEXT?'],
  [['check', '--csot', '1'], 'did you mean --cost N?'],
  [['bench', '--conections', '4'], 'did you mean --connections N?'],
  [['help', 'expln'], "did you mean 'explain'?"],
  [['--verson'], 'there is no option --verson; did you mean --version?'],
  [['validate'], 'validate needs a file'],
  [['validate', '--jsn', EXAMPLE], 'there is no option --jsn; did you mean --json?'],
  [['validate', '--json=yes', EXAMPLE], '--json takes no value'],
  [['types'], 'types needs one file'],
  [['types', EXAMPLE, EXAMPLE], 'types needs one file'],
  [['explain', ...REQUEST], 'explain needs a file and attributes'],
  [['explain', EXAMPLE], 'explain needs attributes, such as method=POST path=/v1/charges, or --request JSON'],
  [['explain', EXAMPLE, EXAMPLE], 'an attribute is written name=value, such as merchant=acct_1'],
  [['explain', EXAMPLE, 'ip=192.0.2.1', 'ip=192.0.2.2'], 'the attribute ip is given twice'],
  [['explain', EXAMPLE, '--request'], '--request needs a value'],
  [['explain', EXAMPLE, '--request', '{'], '--request must be a JSON object such as'],
  [['explain', EXAMPLE, '--request', '[1]'], '--request must be a JSON object such as'],
  [['explain', EXAMPLE, '--request', '{"ip":{}}'], 'the attribute ip must be text'],
  [['explain', EXAMPLE, ...REQUEST, ...REQUEST], '--request is given twice'],
  [['explain', EXAMPLE, ...REQUEST, '--cost', 'many'], "--cost must be a whole number from 0, got 'many'"],
  [['explain', EXAMPLE, ...REQUEST, '--cost', '-1'], "--cost must be a whole number from 0, got '-1'"],
  [['explain', EXAMPLE, ...REQUEST, '--prefix', 'a:'], '--prefix needs --store'],
  [['explain', EXAMPLE, ...REQUEST, '--store', 'localhost:6379'], '--store must be the address of a Redis'],
  [['explain', EXAMPLE, ...REQUEST, '--store', 'http://a'], '--store must be the address of a Redis'],
])('%j is an error that says what would be right', async (args, said) => {
  const { code, stdout, stderr } = await sluiceHere(args)
  expect(code).toBe(2)
  expect(stdout).toBe('')
  expect(stderr).toContain(said)
  expect(stderr).toMatch(/^sluice: [^\n]*\n$/)
})

test('without a command, sluice lists the commands and fails', async () => {
  expect(await sluice([])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('Usage: sluice COMMAND'),
  })
})
