import { expect, test } from 'vitest'
import { moduleText } from '../embed-lua.mjs'

test('comments, blank lines and indentation are left out, and the rest is kept as it is', () => {
  const files = {
    main: '-- what it is\n\nlocal a = `$1\\n`\n  -- STATES\n\n  return a\n',
    states: '-- GENERAL\n',
    general: '  -- ALGORITHMS\n  b()\n',
  }
  const text = moduleText((name) => files[name] ?? `  return '${name}' -- kept\n`)
  expect(text).not.toContain('what it is')
  expect(text).toContain('`local a = \\`\\$1\\\\n\\`\nlocal leasedWindow = function(...)')
  expect(text).toContain(
    "return 'sliding-window' -- kept\nend,log,log,function()\nreturn 'unlimited' -- kept\nend\n}\nb()\nreturn a`",
  )
})
