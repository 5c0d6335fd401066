import { itIsOlderNest, useOlderNest } from './older-nest.js'

useOlderNest(10)
const { nestSuite } = await import('./nest-suite.js')
const { nestGivenBackSuite } = await import('./nest-given-back-suite.js')

nestSuite('nest 10 on express', 'express')
nestSuite('nest 10 on fastify', 'fastify')
nestGivenBackSuite('nest 10 on express', 'express')
nestGivenBackSuite('nest 10 on fastify', 'fastify')
itIsOlderNest(10)
