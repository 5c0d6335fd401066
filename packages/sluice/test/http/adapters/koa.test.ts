import { startKoa2, startKoa3 } from './apps-on-koa.js'
import { adapterSuite } from './suite.js'

adapterSuite('koa 3', startKoa3, { http2: true })
adapterSuite('koa 2', startKoa2, { http2: true })
