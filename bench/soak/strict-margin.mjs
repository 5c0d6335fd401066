// `node bench/soak/strict-margin.mjs`: two processes call an API that allows ten calls in any second, for a minute, at several
// rates. Prints the most calls that the API saw in any second, and the longest that the API itself was held up.
import { withRedis } from '../with-redis.mjs'
import { soak } from './soak.mjs'

const ALLOWED = 10
const rates = [10, 9, 8]

await withRedis(async (redisPort) => {
  for (const perSecond of rates) {
    const found = await soak({ redisPort, callers: 2, perSecond, allowed: ALLOWED, ms: 60_000 })
    const { arrivals, mostInASecond, bans, heldUpMs } = found
    console.log(
      `drain ${perSecond}/s: ${arrivals} calls, at most ${mostInASecond} in any second, ${bans} bans, ` +
        `API held up for ${Math.round(heldUpMs)} ms`,
    )
  }
})
