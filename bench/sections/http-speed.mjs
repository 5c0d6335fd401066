import { inChild } from '../in-child.mjs'
import { fixed, table } from '../markdown.mjs'
import { spread } from '../statistics.mjs'
import { versions } from '../versions.mjs'

const contenders = {
  express: ['bare', 'sluice', 'express-rate-limit'],
  fastify: ['bare', 'sluice', '@fastify/rate-limit'],
  hono: ['bare', 'sluice', 'hono-rate-limiter'],
}
const packages = ['express', 'fastify', 'hono', '@hono/node-server']
const rivals = ['express-rate-limit', '@fastify/rate-limit', 'hono-rate-limiter']
const usual = { connections: 32, warmUpMs: 3_000, roundMs: 500, rounds: 21 }
const LEAST = { express: 0.95, fastify: 0.93 }

/** What a limit costs in front of a handler that does nothing. */
export const httpSpeed = {
  name: 'http-speed',
  title: 'HTTP: requests a second with and without a limit',

  measure({ full }) {
    const rounds = full ? 3 * usual.rounds : usual.rounds
    const found = Object.entries(contenders).map(([framework, own]) => {
      console.error(`  ${framework}`)
      return [framework, summary(inChild('httpSpeed', { ...usual, rounds, framework, contenders: own }))]
    })
    return { versions: versions([...packages, ...rivals]), found: Object.fromEntries(found) }
  },

  render({ versions, found }) {
    const rows = Object.entries(found).flatMap(([framework, own]) =>
      Object.entries(own).map(([contender, { perSecond, cpuUs, share, cpuShare }]) => [
        contender === 'bare' ? `**${framework}**` : `with ${contender}`,
        fixed(perSecond.median, 0),
        `${percent(share.median)} (${percent(share.least)} to ${percent(share.greatest)})`,
        fixed(cpuUs.median, 1),
        percent(cpuShare.median),
      ]),
    )
    return [
      `${usual.connections} connections ask for a route that says hello, each again as soon as it has its answer; everything is`,
      'admitted and every response tells the quota. Servers are processes of their own on the same machine as the client, all',
      'of them running, and asked in turns of half a second; a share is the middle of those of all rounds, each compared with',
      'the bare framework of the same round. CPU is microseconds of the server process a request.',
      '',
      table(['', 'requests/s', 'of bare', 'CPU', 'of the bare CPU'], rows),
      '',
      `Versions: ${Object.entries(versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(', ')}.`,
    ].join('\n')
  },

  goals({ found }) {
    return Object.entries(LEAST).map(([framework, least]) => {
      const { share } = found[framework].sluice
      return {
        goal: `HTTP: at least ${percent(least)} of bare ${framework}, with all fields`,
        measured: `${percent(share.median)} (rounds ${percent(share.least)} to ${percent(share.greatest)})`,
        reached: share.median >= least,
      }
    })
  },
}

function summary(found) {
  const { bare } = found
  return Object.fromEntries(
    Object.entries(found).map(([contender, rounds]) => {
      const each = (of) => spread(Object.keys(rounds).map((round) => of(rounds[round], bare[round])))
      return [
        contender,
        {
          perSecond: each(({ perSecond }) => perSecond),
          cpuUs: each(({ cpuUs }) => cpuUs),
          share: each((own, theirs) => own.perSecond / theirs.perSecond),
          cpuShare: each((own, theirs) => own.cpuUs / theirs.cpuUs),
        },
      ]
    }),
  )
}

function percent(share) {
  return `${fixed(100 * share, 0)} %`
}
