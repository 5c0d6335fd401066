// NestJS: a limit for all routes, one more for a route, and none for another. Decorators need a compiler:
// npx esbuild examples/nest.ts | node --input-type=module
import { Controller, Get, Module } from '@nestjs/common'
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

  @Get('health')
  @SkipRateLimit()
  health() {
    return 'up\n'
  }
}

const limit = tokenBucket({ capacity: 10, refill: '5/m' })

// A proxy on this machine may say where a request comes from. The limit of a route inherits the option.
@Module({
  imports: [RateLimitModule.forRoot({ name: 'all', limit, trustedProxies: 'loopback' })],
  controllers: [AppController],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] })
await app.listen(process.env.PORT ?? 3000, '127.0.0.1')
console.log(`listening on ${await app.getUrl()}`)
