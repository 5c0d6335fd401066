import { startExpress4, startExpress5 } from './apps-on-express.js'
import { adapterSuite } from './suite.js'

adapterSuite('express 5', startExpress5)
adapterSuite('express 4', startExpress4)
