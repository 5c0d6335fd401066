import { startNode } from './apps-on-node.js'
import { adapterSuite } from './suite.js'

adapterSuite('node:http', startNode, { http2: true })
