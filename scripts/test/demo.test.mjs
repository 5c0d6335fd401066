import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { contenders } from '../demo/contenders.mjs'
import { runDemo } from '../demo/demo.mjs'
import { mostWithin, simulate } from '../demo/simulate.mjs'
import { arrivals } from '../demo/traffic.mjs'

test('the demo shows what its remarks say', () => {
  const most = Object.fromEntries(
    contenders.map(({ title, limit }) => {
      const { departuresMs } = simulate(limit, arrivals())
      return [title, { in1s: mostWithin(departuresMs, 1_000), in4s: mostWithin(departuresMs, 4_000) }]
    }),
  )
  expect(most['fixed window'].in1s).toBe(40)
  expect(most['token bucket'].in1s).toBeLessThanOrEqual(25)
  expect(most['leaky bucket'].in1s).toBe(5)
  expect(most['sliding window'].in1s).toBe(20)
  expect(most['sliding log'].in4s).toBe(20)
})

test('the demo draws a row for the traffic and one for each algorithm, within 100 columns', () => {
  let text = ''
  const out = new Writable({
    write(chunk, _encoding, done) {
      text += chunk
      done()
    },
  })
  runDemo(out)
  const lines = text.split('\n')
  for (const title of ['requests', ...contenders.map((each) => each.title)]) {
    expect(lines.filter((line) => line.startsWith(`  ${title}`) && /[▁▂▃▄▅▆▇█]/.test(line))).toHaveLength(1)
  }
  for (const line of lines.filter((each) => /[▁▂▃▄▅▆▇█]/.test(each))) expect([...line].length).toBeLessThanOrEqual(100)
})
