import { fastify } from 'fastify'
import { fieldsSuite } from './fields-suite.js'

fieldsSuite('fastify 5', fastify)
