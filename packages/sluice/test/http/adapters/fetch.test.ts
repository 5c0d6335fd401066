import { startFetch } from './apps-on-fetch.js'
import { adapterSuite } from './suite.js'

adapterSuite('fetch handlers', startFetch, { http2: true })
