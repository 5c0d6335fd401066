import { clientAddress } from 'sluice/http'
import { describe, expect, it } from 'vitest'
import { remoteAddressOf } from '../../../src/http/adapters/node-exchange.js'

describe('where a connection comes from', () => {
  it('of a closed connection is not trusted: only a Unix socket has no address', () => {
    const clientOf = clientAddress({ trustedProxies: ['unix'] })
    const forwarded = () => '203.0.113.7'
    expect(clientOf(remoteAddressOf({ destroyed: false }), forwarded)).toBe('203.0.113.7')
    expect(clientOf(remoteAddressOf({ destroyed: true }), forwarded)).toBe('unknown')
  })

  it('is not a Unix socket because a function returns null', () => {
    expect(remoteAddressOf({ remoteAddress: null as unknown as string })).toBeNull()
  })
})
