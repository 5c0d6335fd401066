import { startNestOnExpress, startNestOnFastify } from './apps-on-nest.js'
import { adapterSuite } from './suite.js'

adapterSuite('nest on express', startNestOnExpress, { onDenied: false })
adapterSuite('nest on fastify', startNestOnFastify, { onDenied: false, http2: true })
