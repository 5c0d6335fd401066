import { startHono } from './apps-on-hono.js'
import { adapterSuite } from './suite.js'

adapterSuite('hono', startHono, { http2: true })
