/** `validate` and `explain` of rules for Envoy. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RedisServer, startRedis } from '../../../../scripts/redis-server.mjs'
import { sluiceHere } from './run-cli.js'

const MESSAGING = `domain: messaging
descriptors:
  - key: message_type
    value: marketing
    descriptors:
      - key: to_number
        rate_limit: { unit: day, requests_per_unit: 5 }
  - key: message_type
    value: market*
  - key: to_number
    rate_limit: { unit: month, requests_per_unit: 100, name: month, replaces: [{ name: quota }] }
  - key: quota
    quota_mode: true
    rate_limit: { unit: day, requests_per_unit: 0, name: quota }
`

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-rules-cli-'))
  await mkdir(join(folder, 'good', 'more'), { recursive: true })
  await mkdir(join(folder, 'bad'))
  await writeFile(join(folder, 'good', 'messaging.yaml'), MESSAGING)
  await writeFile(join(folder, 'good', 'more', 'edge.yml'), 'domain: edge\ndescriptors: []\n')
  await writeFile(join(folder, 'good', 'README.md'), 'no rules')
  await writeFile(join(folder, 'bad', 'a.yaml'), 'domain: edge\nlimits: []\n')
  await writeFile(join(folder, 'bad', 'b.yaml'), 'descriptors: []\n')
})
afterAll(() => rm(folder, { recursive: true }))

describe('validate', () => {
  test('a folder', async () => {
    const { code, stdout } = await sluiceHere(['validate', join(folder, 'good')])
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `${join(folder, 'good')}: 2 domains (messaging, edge), 3 rules with limits\n`,
    })
  })

  test('a file and the standard input', async () => {
    const path = join(folder, 'good', 'messaging.yaml')
    expect((await sluiceHere(['validate', path])).stdout).toBe(`${path}: 1 domain (messaging), 3 rules with limits\n`)
    expect((await sluiceHere(['validate', '-'], { stdin: MESSAGING })).stdout).toBe(
      'stdin: 1 domain (messaging), 3 rules with limits\n',
    )
  })

  test('every problem of every file', async () => {
    const { code, stdout } = await sluiceHere(['validate', join(folder, 'bad'), '--json'])
    expect(code).toBe(1)
    expect(JSON.parse(stdout)[0].problems).toEqual([
      {
        file: join(folder, 'bad', 'a.yaml'),
        ...{ line: 2, column: 1, message: "config error, unknown key 'limits'; a file has domain, descriptors" },
      },
      { file: join(folder, 'bad', 'b.yaml'), line: 1, column: 1, message: 'config file cannot have empty domain' },
    ])
    expect((await sluiceHere(['validate', join(folder, 'bad')])).stdout).toContain(
      `${join(folder, 'bad', 'b.yaml')}:1:1 config file cannot have empty domain`,
    )
  })
})

const explain = (...args: readonly string[]) =>
  sluiceHere(['explain', join(folder, 'good'), '--domain', 'messaging', ...args])

describe('explain', () => {
  test('the way of each descriptor through the rules, why not others, and what is left', async () => {
    const { stdout } = await explain('message_type=marketing', 'to_number=206', ',', 'message_type=news')
    expect(stdout).toBe(`message_type=marketing to_number=206
  message_type=marketing  → message_type_marketing    the exact value
                            not message_type_market*  an exact value comes first
                            2 rules of other keys
  to_number=206           → to_number                 any value
  counts as rule=messaging.message_type_marketing.to_number descriptor=206
  fixed-window, quota 5, window 1d: 5 of 5 left
  OK

message_type=news
  message_type=news  → no rule                     no rule fits
                       not message_type_marketing  the value is 'news', and it asks for 'marketing'
                       not message_type_market*    the value is 'news', and it asks for 'market*'
                       2 rules of other keys
  OK: no limit, because no rule fits 'message_type=news'

OK for the domain messaging.
This is a fresh store: nothing has been taken. --store redis://… asks a Redis.
`)
  })

  test.each([
    [['message_type=marketing'], 'no limit, because the rule has no rate_limit'],
    [['to_number=1', 'x=2'], "no limit, because the rule has no descriptors for 'x=2'"],
    [['quota=x', ',', 'to_number=1'], 'no limit, because that of another descriptor replaces it'],
    [['quota=x'], 'OVER_LIMIT for the domain messaging'],
    [['to_number=1', '--cost', '101'], 'which is not enough'],
  ])('%j: %s', async (words, text) => {
    expect((await explain(...words)).stdout).toContain(text)
  })

  test('as JSON', async () => {
    const report = JSON.parse((await explain('quota=x', '--json')).stdout)
    expect(report).toMatchObject({
      domain: 'messaging',
      overall: 'OVER_LIMIT',
      descriptors: [{ code: 'OVER_LIMIT', isQuota: true, counts: [{ rule: 'messaging.quota', descriptor: 'x' }] }],
    })
  })

  test.each([
    [['explain', 'FOLDER', 'a=b'], 'has 2 domains: choose one with --domain, of messaging, edge'],
    [['explain', 'FOLDER', '--domain', 'x', 'a=b'], "has no domain 'x'; it has messaging, edge"],
    [['explain', 'FOLDER', '--domain', 'edge', 'a'], 'an entry is written key=value'],
    [['explain', 'FOLDER', '--domain', 'edge', '--request', '{}'], 'rules for Envoy take no --request'],
  ])('%j is refused', async (args, message) => {
    const { code, stderr } = await sluiceHere(args.map((each) => each.replace('FOLDER', join(folder, 'good'))))
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  })

  describe('on Redis', () => {
    let server: RedisServer
    beforeAll(async () => {
      server = await startRedis()
    })
    afterAll(() => server.stop())

    test('as of now', async () => {
      const { code, stdout } = await explain('to_number=206', '--store', `redis://127.0.0.1:${server.port}`)
      expect(code).toBe(0)
      expect(stdout).toContain('100 of 100 left')
      expect(stdout).toContain(`As of now in redis://127.0.0.1:${server.port}.`)
    })
  })
})
