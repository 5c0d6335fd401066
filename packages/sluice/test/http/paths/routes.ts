import { createPolicy, fixedWindow } from 'sluice'

/**
 * The routes of every application here, by name. A handler answers with the name of its route. `under` routes take all
 * that begins with their path, and `other` takes all other paths.
 */
export const ROUTES = {
  graphql: { under: '/graphql' },
  search: { one: '/api/search' },
  charges: { at: '/v1/charges' },
  report: { at: '/Report' },
  health: { at: '/health' },
  static: { under: '/static' },
  login: { at: '/:tenant/login' },
  item: { at: '/:item' },
} as const

export type RouteName = keyof typeof ROUTES | 'other'

const LIMITED = ['graphql', 'search', 'charges', 'report', 'login', 'item']
const EXEMPT = ['health', 'static']

const limit = fixedWindow({ quota: 1_000_000_000, window: '1d' })

/** A level for each limited route, and one for all but the exempt routes. */
export function routePolicy() {
  return createPolicy({
    levels: [
      { name: 'graphql', when: { path: '/graphql/**' }, limit },
      { name: 'search', when: { path: '/api/search/:term' }, limit },
      { name: 'charges', when: { path: '/v1/charges' }, limit },
      { name: 'report', when: { path: '/Report' }, limit },
      { name: 'login', when: { path: '/:tenant/login' }, limit },
      { name: 'item', when: { path: '/:item' }, limit },
      { name: 'rest', when: { path: { not: ['/health', '/static/**'] } }, limit },
    ],
  })
}

/** The route whose limit replaces the limit of all. */
const REPLACING = 'charges'

/** The same as limits of routes, besides one limit that replaces the limit of all. */
export function routeLimits() {
  return {
    limit,
    name: 'rest',
    routes: {
      '/graphql/**': { name: 'graphql', limit },
      '/api/search/:term': { name: 'search', limit },
      'POST /v1/charges': { name: REPLACING, limit, instead: true },
      '/Report': { name: 'report', limit },
      '/:tenant/login': { name: 'login', limit },
      '/:item': { name: 'item', limit },
      '/health': false,
      '/static/**': false,
    },
  } as const
}

/** The levels that must have been asked when the handler of a route ran. */
export function levelsOf(route: string): readonly string[] {
  return [...(LIMITED.includes(route) ? [route] : []), ...(EXEMPT.includes(route) ? [] : ['rest'])]
}

/** The limits that must have been asked, if they are those of `routeLimits`. */
export function limitsOf(route: string): readonly string[] {
  return levelsOf(route).filter((name) => route !== REPLACING || name === REPLACING)
}
