import { nestSuite } from './nest-suite.js'

nestSuite('nest 12 on express', 'express')
nestSuite('nest 12 on fastify', 'fastify')
