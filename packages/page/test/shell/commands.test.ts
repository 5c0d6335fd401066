import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { commands } from '../../src/shell/commands.js'

/** The words that a shell makes of a command. */
const wordsOf = (command: string) =>
  execFileSync('sh', ['-c', `printf '%s\\n' ${command}`], { encoding: 'utf8' })
    .trimEnd()
    .split('\n')

test('a shell reads each command as it is meant, whatever the attributes are', () => {
  const attributes = { merchant: `o'neil "$(id)" \`x\` \\ !`, path: '/v1/charges' }
  const [curl, check, serve, explain] = commands('http://127.0.0.1:8080', attributes)
  expect(wordsOf(curl.text)).toEqual(['curl', 'http://127.0.0.1:8080/v1/check', '-d', JSON.stringify({ attributes })])
  const request = JSON.stringify(attributes)
  expect(wordsOf(check.text)).toEqual(['sluice', 'check', '--request', request, '--url', 'http://127.0.0.1:8080'])
  expect(serve.text).toBe('sluice serve --policy policy.yaml')
  expect(wordsOf(explain.text)).toEqual(['sluice', 'explain', 'policy.yaml', '--request', request])
})

test('without attributes the commands have an example', () => {
  const [curl] = commands('http://[::1]:8080', {})
  expect(wordsOf(curl.text)[3]).toBe('{"attributes":{"method":"POST","path":"/v1/charges","merchant":"acct_1"}}')
})
