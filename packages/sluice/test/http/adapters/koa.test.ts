import { startKoa } from './apps-on-koa.js'
import { adapterSuite } from './suite.js'

adapterSuite('koa', startKoa, { http2: true })
