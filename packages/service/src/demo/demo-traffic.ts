/** A request that the demo makes: what `POST /v1/check` reads. */
export interface DemoRequest {
  readonly attributes: Readonly<Record<string, string>>
}

/** Gives numbers from 0 to 1. */
export type Random = () => number

/** A client, or a group of clients that behave alike. */
interface Source {
  /** Requests a second, so many seconds after the start. */
  readonly rate: (second: number) => number
  readonly request: (random: Random) => DemoRequest['attributes']
}

const CHARGES = { method: 'POST', path: '/v1/charges' }
const CUSTOMERS = { method: 'GET', path: '/v1/customers' }
const BALANCE = { method: 'GET', path: '/v1/balance' }
const LOGIN = { method: 'POST', path: '/v1/login' }

/**
 * Clients for the example policy: each shows one of its levels at work. Together they make about 90 requests a second, with
 * waves from 25 to 200.
 */
const SOURCES: readonly Source[] = [
  // A quiet merchant. It is never denied.
  { rate: () => 3, request: (random) => ({ ...mixed(random), merchant: 'acct_bakery' }) },
  // A large merchant whose limit the policy raises. Its load rises and falls in a minute.
  {
    rate: (second) => 12 + 8 * Math.sin((2 * Math.PI * second) / 60),
    request: (random) => ({ ...mixed(random), merchant: 'acct_big' }),
  },
  // A merchant that sells tickets: every 30 seconds a sale begins, and lasts for 6. The bucket of `charges` takes most of it.
  {
    rate: (second) => (isWithin(second, { every: 30, from: 20, seconds: 6 }) ? 70 : 2),
    request: () => ({ ...CHARGES, merchant: 'acct_tickets' }),
  },
  // An abuser that tries stolen cards, half of the time. `charges` denies what is above 50 a second.
  {
    rate: (second) => (isWithin(second, { every: 45, from: 3, seconds: 24 }) ? 75 : 0),
    request: () => ({ ...CHARGES, merchant: 'acct_cardtester' }),
  },
  // An address without a login that guesses passwords. `ip` denies what is above 20 a second.
  {
    rate: (second) => (isWithin(second, { every: 40, from: 6, seconds: 14 }) ? 36 : 0),
    request: () => ({ ...LOGIN, ip: '203.0.113.66' }),
  },
  // People on their way to a login, from many addresses.
  { rate: () => 4, request: (random) => ({ ...LOGIN, ip: `198.51.100.${1 + Math.floor(random() * 40)}` }) },
  // Small merchants.
  {
    rate: () => 6,
    request: (random) => ({ ...mixed(random), merchant: `acct_shop_${1 + Math.floor(random() * 20)}` }),
  },
]

/** The requests of a span of time that begins so long after the start. Those of all clients are mixed. */
export function demoTraffic(atMs: number, spanMs: number, random: Random): readonly DemoRequest[] {
  const requests = SOURCES.flatMap(({ rate, request }) => {
    // The part below a whole request is made with its probability, so that the mean is right.
    const count = Math.floor((rate(atMs / 1_000) * spanMs) / 1_000 + random())
    return Array.from({ length: count }, () => ({ attributes: request(random) }))
  })
  return shuffled(requests, random)
}

/** In an order that chance makes: otherwise a sample of the first requests would show the same clients each time. */
function shuffled(requests: readonly DemoRequest[], random: Random): readonly DemoRequest[] {
  const mixed = [...requests]
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    const moved = mixed[last]
    mixed[last] = mixed[other]
    mixed[other] = moved
  }
  return mixed
}

/** What merchants ask for most of the time. */
function mixed(random: Random): typeof CHARGES {
  const chance = random()
  if (chance < 0.5) return CUSTOMERS
  return chance < 0.8 ? CHARGES : BALANCE
}

interface Period {
  readonly every: number
  readonly from: number
  readonly seconds: number
}

function isWithin(second: number, { every, from, seconds }: Period): boolean {
  const since = (((second - from) % every) + every) % every
  return second >= from && since < seconds
}
