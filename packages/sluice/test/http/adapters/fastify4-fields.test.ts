import type { fastify as fastify5 } from 'fastify'
import { fastify } from 'fastify4'
import { fieldsSuite } from './fields-suite.js'

fieldsSuite('fastify 4', fastify as unknown as typeof fastify5)
