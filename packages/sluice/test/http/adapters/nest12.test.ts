import { nestGivenBackSuite } from './nest-given-back-suite.js'
import { nestSuite } from './nest-suite.js'

nestSuite('nest 12 on express', 'express')
nestSuite('nest 12 on fastify', 'fastify')
nestGivenBackSuite('nest 12 on express', 'express')
nestGivenBackSuite('nest 12 on fastify', 'fastify')
