// Koa: a denial in your own words, and a path that is never limited.
import Koa from 'koa'
import { tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/koa'

const app = new Koa()

app.use(
  rateLimit({
    limit: tokenBucket({ capacity: 5, refill: '5/m' }),
    skip: (ctx) => ctx.path === '/health',
    trustedProxies: 'loopback', // a proxy on this machine may say where a request comes from
    // Status 429, Retry-After and RateLimit are set already. Only the body is missing.
    onDenied: (ctx, { retryAfterMs }) => {
      ctx.body = { error: 'slow_down', seconds: Math.ceil(retryAfterMs / 1000) }
    },
  }),
)

app.use((ctx) => {
  ctx.body = ctx.path === '/health' ? 'up\n' : 'hello\n'
})

const server = app.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`)
})
