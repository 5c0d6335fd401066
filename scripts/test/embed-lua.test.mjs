import { expect, test } from 'vitest'
import { moduleText } from '../embed-lua.mjs'

test('comments, blank lines and indentation are left out, and the rest is kept as it is', () => {
  const files = { main: '-- what it is\n\n-- ALGORITHMS\n\nlocal a = `$1\\n`\n  return a\n' }
  const text = moduleText((name) => files[name] ?? `  return '${name}' -- kept\n`)
  expect(text).not.toContain('what it is')
  expect(text).toContain("return 'sliding-log' -- kept\nend\n}\nlocal a = \\`\\$1\\\\n\\`\nreturn a`")
})
