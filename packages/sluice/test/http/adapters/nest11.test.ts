import { itIsOlderNest, useOlderNest } from './older-nest.js'

useOlderNest(11)
const { nestSuite } = await import('./nest-suite.js')
const { nestGivenBackSuite } = await import('./nest-given-back-suite.js')

nestSuite('nest 11 on express', 'express')
nestSuite('nest 11 on fastify', 'fastify')
nestGivenBackSuite('nest 11 on express', 'express')
nestGivenBackSuite('nest 11 on fastify', 'fastify')
itIsOlderNest(11)
