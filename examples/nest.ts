// NestJS: a limit for all routes. A route has one more, another one instead, or none. Requests that `skip` returns true for
// are not limited at all. Decorators need a compiler:
// npx esbuild examples/nest.ts | node --input-type=module
import { Controller, Get, Module, Post } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { tokenBucket } from 'sluice'
import { RateLimit, RateLimitModule, SkipRateLimit } from 'sluice/nest'

@Controller()
class AppController {
  @Get()
  hello() {
    return 'hello\n'
  }

  @Get('search')
  @RateLimit({ name: 'search', limit: tokenBucket({ capacity: 3, refill: '3/m' }) })
  search() {
    return 'found\n'
  }

  @Post('upload')
  @RateLimit({ name: 'upload', limit: tokenBucket({ capacity: 2, refill: '1/m' }), instead: true })
  upload() {
    return 'stored\n'
  }

  @Get('health')
  @SkipRateLimit()
  health() {
    return 'up\n'
  }
}

const monitors = new Set(['192.0.2.10'])

@Module({
  imports: [
    RateLimitModule.forRoot({
      name: 'all',
      limit: tokenBucket({ capacity: 10, refill: '5/m' }),
      // A proxy on this machine may say where a request comes from. The limits of routes inherit this option and the next.
      trustedProxies: 'loopback',
      skip: (_request, address) => monitors.has(address),
    }),
  ],
  controllers: [AppController],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] })
await app.listen(process.env.PORT ?? 3000, '127.0.0.1')
console.log(`listening on ${await app.getUrl()}`)
