import { describe, expect, it } from 'vitest'
import type { LiveRequest, LiveStore, LiveTopKeys } from '../../../service/src/live/live-events.js'
import { LiveModel, type Topic } from '../../src/live/live-model.js'
import { frameOf, helloOf, levelsOf } from './live-frames.js'

const store: LiveStore = { kind: 'memory', state: 'well', text: 'Well.', figures: [] }
const keys: LiveTopKeys = { sinceMs: 0, byLoad: [], byDenials: [] }

function requestOf(id: string, atMs = 0): LiveRequest {
  return { id, atMs, allowed: true, deniedBy: [], degraded: false, cost: 1, attributes: {} }
}

function wholeModel(): LiveModel {
  const live = new LiveModel()
  live.take({ name: 'hello', data: helloOf({ levels: levelsOf(['a']) }) })
  live.take({ name: 'store', data: store })
  live.take({ name: 'keys', data: keys })
  live.take({ name: 'frame', data: frameOf(1_000, { allowed: 1 }) })
  return live
}

describe('LiveModel', () => {
  it('starts over from the hello of a service that was restarted', () => {
    const live = wholeModel()
    live.take({ name: 'requests', data: [requestOf('1')] })
    live.take({ name: 'hello', data: helloOf({ levels: levelsOf(['b']), seconds: [frameOf(9_000)] }) })
    expect(live.scene.history.seconds.size).toBe(1)
    expect(live.scene.frame?.atMs).toBe(9_000)
    expect(live.scene.history.levels.levels[0].name).toBe('b')
    expect(live.scene.requests).toEqual([])
    expect(live.scene.store).toBeUndefined()
  })

  it('shows what there was while it is paused, and nothing is missing after', () => {
    const live = wholeModel()
    live.setPaused(true)
    live.take({ name: 'frame', data: frameOf(2_000, { allowed: 2 }) })
    live.take({ name: 'requests', data: [requestOf('1')] })
    expect(live.scene.frame?.allowed).toBe(1)
    expect(live.scene.history.seconds.size).toBe(1)
    expect(live.scene.requests).toEqual([])
    live.setPaused(false)
    expect(live.scene.frame?.allowed).toBe(2)
    expect(live.scene.history.seconds.size).toBe(2)
    expect(live.scene.requests).toHaveLength(1)
  })

  it('shows no key of the former token, also while it is paused, and pauses again with those of the next', () => {
    const live = wholeModel()
    live.take({ name: 'requests', data: [requestOf('1')] })
    live.setPaused(true)
    live.forgetKeys()
    expect([live.scene.keys, live.scene.requests]).toEqual([undefined, []])
    expect(live.scene.frame?.atMs).toBe(1_000)
    live.take({ name: 'hello', data: helloOf({ levels: levelsOf(['a']) }) })
    live.take({ name: 'store', data: store })
    live.take({ name: 'keys', data: keys })
    live.take({ name: 'frame', data: frameOf(2_000) })
    live.take({ name: 'frame', data: frameOf(3_000) })
    expect(live.scene.keys).toBe(keys)
    expect(live.scene.frame?.atMs).toBe(2_000)
  })

  it('a page that opens paused first gets something to show', () => {
    const live = new LiveModel()
    live.setPaused(true)
    live.take({ name: 'hello', data: helloOf() })
    live.take({ name: 'frame', data: frameOf(1_000) })
    live.take({ name: 'store', data: store })
    live.take({ name: 'keys', data: keys })
    live.take({ name: 'frame', data: frameOf(2_000) })
    live.take({ name: 'frame', data: frameOf(3_000) })
    expect(live.scene.frame?.atMs).toBe(2_000)
    expect(live.scene.store).toBe(store)
  })

  it('tells of what changes, and of nothing that is not shown', () => {
    const live = wholeModel()
    const heard: Topic[] = []
    for (const topic of ['frame', 'keys', 'requests', 'demo', 'link'] as const)
      live.listen([topic], () => heard.push(topic))
    const leave = live.listen(['frame'], () => heard.push('hello'))
    leave()
    live.take({ name: 'frame', data: frameOf(2_000) })
    live.take({ name: 'demo', data: { isRunning: true } })
    expect(heard).toEqual(['frame', 'demo'])
    live.setPaused(true)
    heard.length = 0
    live.take({ name: 'frame', data: frameOf(3_000) })
    live.take({ name: 'keys', data: keys })
    live.setLink({ kind: 'connecting' })
    expect(heard).toEqual(['link'])
  })

  it('keeps the last fifty requests, each once, the newest first', () => {
    const live = wholeModel()
    live.take({ name: 'requests', data: [requestOf('1', 1), requestOf('2', 2)] })
    live.take({ name: 'requests', data: [requestOf('2', 2), requestOf('3', 3)] })
    expect(live.scene.requests.map(({ id }) => id)).toEqual(['3', '2', '1'])
    live.take({ name: 'requests', data: Array.from({ length: 80 }, (_, at) => requestOf(`more ${at}`, 10 + at)) })
    expect(live.scene.requests).toHaveLength(50)
    expect(live.scene.requests[0].id).toBe('more 79')
  })

  it('has the levels of a reload', () => {
    const live = wholeModel()
    live.take({ name: 'levels', data: levelsOf(['a', 'b'], 2) })
    live.take({ name: 'frame', data: frameOf(2_000, { version: 2, levels: [1, 0, 0, 0, 2, 0, 0, 0] }) })
    expect(live.scene.history.seconds.count(1, 1, 'admitted')).toBe(2)
  })
})
