import { startFastify4, startFastify5 } from './apps-on-fastify.js'
import { adapterSuite } from './suite.js'

adapterSuite('fastify 5', startFastify5, { http2: true })
adapterSuite('fastify 4', startFastify4, { http2: true })
