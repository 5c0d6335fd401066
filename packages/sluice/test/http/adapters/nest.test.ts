import { startNestOnExpress, startNestOnFastify } from './apps-on-nest.js'
import { adapterSuite } from './suite.js'

adapterSuite('nest on express', startNestOnExpress, { onDenied: false, handlersOnly: true })
adapterSuite('nest on fastify', startNestOnFastify, { onDenied: false, handlersOnly: true, http2: true })
