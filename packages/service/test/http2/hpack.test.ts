import { once } from 'node:events'
import { connect, type OutgoingHttpHeaders } from 'node:http2'
import { type AddressInfo, createServer } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RUNS } from '../../../sluice/test/property/arbitraries.js'
import { decodeHuffman, mostDecodedBytes } from '../../dist/http2/hpack/decode-huffman.js'
import { HeaderDecoder } from '../../dist/http2/hpack/header-decoder.js'
import { huffmanCode } from '../../dist/http2/hpack/huffman-code.js'
import { staticTable } from '../../dist/http2/hpack/static-table.js'
import {
  type Field,
  huffman,
  huffmanText,
  indexed,
  literal,
  number,
  remembered,
  tableSize,
  text,
} from './hpack-encoding.js'

const COMPRESSION_ERROR = 9

/** Decodes one block after another with one table. */
function decoding(tableBytes = 4_096) {
  const decoder = new HeaderDecoder(tableBytes)
  return {
    table: decoder.table,
    decode(block: Buffer): Field[] {
      const fields: Field[] = []
      decoder.decode(block, 0, block.length, { field: ({ name, value }) => fields.push([name, value]) })
      return fields
    },
  }
}

const hex = (digits: string) => Buffer.from(digits.replace(/\s/g, ''), 'hex')
const errorOf = (run: () => unknown) => {
  try {
    run()
  } catch (error) {
    return error as { readonly code: number; readonly message: string }
  }
  return undefined
}

const first: Field[] = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':path', '/'],
  [':authority', 'www.example.com'],
]
const second: Field[] = [...first, ['cache-control', 'no-cache']]
const third: Field[] = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/index.html'],
  [':authority', 'www.example.com'],
  ['custom-key', 'custom-value'],
]
const found: Field[] = [
  [':status', '302'],
  ['cache-control', 'private'],
  ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'],
  ['location', 'https://www.example.com'],
]
const moved: Field[] = [[':status', '307'], ...found.slice(1)]
const cookie: Field[] = [
  [':status', '200'],
  ['cache-control', 'private'],
  ['date', 'Mon, 21 Oct 2013 20:13:22 GMT'],
  ['location', 'https://www.example.com'],
  ['content-encoding', 'gzip'],
  ['set-cookie', 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'],
]

describe('the examples of RFC 7541, appendix C', () => {
  test('C.2: the four representations of a field', () => {
    const { decode, table } = decoding()
    expect(decode(hex('400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572'))).toEqual([
      ['custom-key', 'custom-header'],
    ])
    expect(table.bytes).toBe(55)
    expect(decode(hex('040c 2f73 616d 706c 652f 7061 7468'))).toEqual([[':path', '/sample/path']])
    expect(decode(hex('1008 7061 7373 776f 7264 0673 6563 7265 74'))).toEqual([['password', 'secret']])
    expect(decode(hex('82'))).toEqual([[':method', 'GET']])
    expect(table.length).toBe(1)
  })

  test.each([
    {
      title: 'C.3: requests without Huffman coding',
      blocks: [
        '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        '8286 84be 5808 6e6f 2d63 6163 6865',
        '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
      ],
    },
    {
      title: 'C.4: requests with Huffman coding',
      blocks: [
        '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
        '8286 84be 5886 a8eb 1064 9cbf',
        '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
      ],
    },
  ])('$title', ({ blocks }) => {
    const { decode, table } = decoding()
    expect(blocks.map((block) => decode(hex(block)))).toEqual([first, second, third])
    expect(table.bytes).toBe(164)
    expect([0, 1, 2, 3].map((i) => table.at(i)?.value)).toEqual([
      'custom-value',
      'no-cache',
      'www.example.com',
      undefined,
    ])
  })

  test.each([
    {
      title: 'C.5: responses without Huffman coding, in a table of 256 bytes',
      blocks: [
        `4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e
         1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d`,
        '4803 3330 37c1 c0bf',
        `88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d
         4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572
         7369 6f6e 3d31`,
      ],
    },
    {
      title: 'C.6: responses with Huffman coding, in a table of 256 bytes',
      blocks: [
        `4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b
         97c8 e9ae 82ae 43d3`,
        '4883 640e ffc1 c0bf',
        `88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf
         cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07`,
      ],
    },
  ])('$title', ({ blocks }) => {
    const { decode, table } = decoding(256)
    expect(blocks.map((block) => decode(hex(block)))).toEqual([found, moved, cookie])
    expect(table.bytes).toBe(215)
    expect(table.length).toBe(3)
  })
})

describe('the Huffman code', () => {
  test('has the codes that the RFC prints', () => {
    const code = (symbol: number) => huffmanCode.find((each) => each.symbol === symbol)
    expect(code(0x30)).toEqual({ symbol: 0x30, code: 0x0, bits: 5 })
    expect(code(0x7a)).toEqual({ symbol: 0x7a, code: 0x7b, bits: 7 })
    expect(code(0x5c)).toEqual({ symbol: 0x5c, code: 0x7fff0, bits: 19 })
    expect(code(0xff)).toEqual({ symbol: 0xff, code: 0x3ffffee, bits: 26 })
    expect(code(0x16)).toEqual({ symbol: 0x16, code: 0x3ffffffe, bits: 30 })
    expect(code(256)).toEqual({ symbol: 256, code: 0x3fffffff, bits: 30 })
    expect(new Set(huffmanCode.map(({ symbol }) => symbol)).size).toBe(257)
  })

  test('gives back every string', () => {
    const strings = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1'))
    fc.assert(
      fc.property(strings, (string) => {
        const coded = huffman(string)
        const target = Buffer.alloc(mostDecodedBytes(coded.length))
        expect(target.toString('latin1', 0, decodeHuffman(coded, 0, coded.length, target))).toBe(string)
      }),
      RUNS,
    )
  })

  test.each([
    ['codes the end of a string', Buffer.from([0xff, 0xff, 0xff, 0xff])],
    ['has padding of eight bits', Buffer.concat([huffman('01234567'), Buffer.from([0xff])])],
    ['has padding of zeros', Buffer.from([0x00])],
  ])('is refused if it %s', (_title, coded) => {
    const error = errorOf(() => decodeHuffman(coded, 0, coded.length, Buffer.alloc(100)))
    expect(error?.code).toBe(COMPRESSION_ERROR)
  })
})

describe('a table', () => {
  test('has the 61 fields of appendix A', () => {
    expect(staticTable.length).toBe(61)
    const [authority, , post] = staticTable
    expect([authority.name, post.value, staticTable[15].value, staticTable[60].name]).toEqual([
      ':authority',
      'POST',
      'gzip, deflate',
      'www-authenticate',
    ])
  })

  test('drops its oldest fields for a new one, and all of them for one that is larger than itself', () => {
    const { decode, table } = decoding(100)
    decode(remembered('a', '1'))
    decode(remembered('b', '2'))
    expect(decode(Buffer.concat([indexed(62), indexed(63)]))).toEqual([
      ['b', '2'],
      ['a', '1'],
    ])
    decode(remembered('c', '3'))
    expect(table.length).toBe(2)
    expect(errorOf(() => decode(indexed(64)))?.code).toBe(COMPRESSION_ERROR)
    expect(decode(remembered('d', 'x'.repeat(100)))).toEqual([['d', 'x'.repeat(100)]])
    expect([table.length, table.bytes]).toEqual([0, 0])
  })

  test('may be full to the last byte', () => {
    const { decode, table } = decoding(68)
    decode(remembered('a', '1'))
    decode(remembered('b', '2'))
    expect([table.length, table.bytes]).toEqual([2, 68])
  })

  test('can be made smaller, and larger again up to what was announced', () => {
    const { decode, table } = decoding()
    decode(remembered('a', '1'))
    decode(Buffer.concat([tableSize(0), tableSize(100), remembered('b', '2')]))
    expect([table.length, table.at(0)?.name]).toEqual([1, 'b'])
    expect(errorOf(() => decode(tableSize(4_097)))?.message).toMatch('a table of 4097 bytes')
  })

  test('never exceeds its size, and keeps the newest fields, whatever comes', () => {
    const sizes = fc.array(fc.nat({ max: 400 }), { maxLength: 80 })
    fc.assert(
      fc.property(sizes, (lengths) => {
        const { decode, table } = decoding(512)
        let kept: string[] = []
        for (const length of lengths) {
          decode(remembered('n', 'v'.repeat(length)))
          kept.unshift('v'.repeat(length))
          const bytes = (count: number) => kept.slice(0, count).reduce((sum, value) => sum + value.length + 33, 0)
          while (bytes(kept.length) > 512) kept = kept.slice(0, -1)
        }
        expect(table.bytes).toBeLessThanOrEqual(512)
        expect(Array.from({ length: table.length }, (_, i) => table.at(i)?.value)).toEqual(kept)
      }),
      RUNS,
    )
  })
})

describe('a block is refused with COMPRESSION_ERROR', () => {
  test.each([
    ['has index 0', indexed(0), 'no table has an entry 0'],
    ['has an index behind the table', indexed(62), 'no table has an entry 62'],
    ['names a field by an index behind the table', Buffer.from([0x7f, 0x20]), 'no table has an entry 95'],
    ['changes the size of the table after a field', Buffer.concat([indexed(2), tableSize(0)]), 'inside a header block'],
    ['ends inside a number', Buffer.from([0xff, 0x80]), 'inside a number'],
    ['has a number without end', Buffer.from([0xff, ...new Array(20).fill(0xff)]), 'too large'],
    [
      'ends inside a string',
      Buffer.concat([Buffer.from([0x00]), number(9, 7, 0), Buffer.from('abc')]),
      'inside a string',
    ],
    ['ends before a value', Buffer.concat([Buffer.from([0x00]), text('abc')]), 'before a string'],
  ])('if it %s', (_title, block, message) => {
    const error = errorOf(() => decoding().decode(block))
    expect(error?.code).toBe(COMPRESSION_ERROR)
    expect(error?.message).toMatch(message)
  })

  test('or is right, whatever bytes it has', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 5 }), (blocks) => {
        const { decode, table } = decoding()
        for (const block of blocks) {
          const error = errorOf(() => decode(Buffer.from(block)))
          if (error !== undefined) expect(error.code).toBe(COMPRESSION_ERROR)
          expect(table.bytes).toBeLessThanOrEqual(4_096)
        }
      }),
      RUNS,
    )
  })
})

test('literals with a name and a value in either form are the same field', () => {
  const { decode } = decoding()
  const coded = Buffer.concat([Buffer.from([0x00]), huffmanText('grpc-timeout'), huffmanText('20m')])
  expect(decode(coded)).toEqual(decode(literal('grpc-timeout', '20m')))
})

describe('blocks that node:http2 encodes', () => {
  const server = createServer((socket) => {
    const blocks: Buffer[] = []
    let bytes = Buffer.alloc(0)
    socket.on('error', () => {})
    socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]))
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk])
      for (let at = 24; at + 9 <= bytes.length; ) {
        const end = at + 9 + bytes.readUIntBE(at, 3)
        if (end > bytes.length) break
        if (bytes[at + 3] === 1) {
          const hasPriority = (bytes[at + 4] & 0x20) !== 0
          blocks.push(bytes.subarray(at + (hasPriority ? 14 : 9), end))
          server.emit('block', socket.remotePort, blocks)
        }
        bytes = Buffer.concat([bytes.subarray(0, 24), bytes.subarray(end)])
      }
    })
  })

  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterAll(() => void server.close())

  const name = fc.stringMatching(/^x-[a-z0-9]{1,8}$/)
  const value = fc.oneof(
    fc.constantFrom('', 'trailers', '20m', 'application/grpc'),
    fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)), maxLength: 60 }),
  )
  const names = fc.oneof(fc.constantFrom('accept', 'grpc-timeout', 'user-agent', 'authorization', 'content-type'), name)
  const request = fc.dictionary(names, value, { maxKeys: 12 })

  test('are decoded to what was encoded, request after request', { timeout: 60_000 }, async () => {
    const { port } = server.address() as AddressInfo
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 12 }), async (requests) => {
        const session = connect(`http://127.0.0.1:${port}`)
        session.on('error', () => {})
        const sent: OutgoingHttpHeaders[] = requests.map((headers) => ({ ...headers, ':path': '/a.B/C' }))
        for (const headers of sent) session.request({ ':method': 'POST', ...headers }).on('error', () => {})
        let blocks: Buffer[] = []
        while (blocks.length < sent.length) {
          const [remotePort, received] = await once(server, 'block')
          if (remotePort === session.socket.localPort) blocks = received
        }
        session.destroy()
        const { decode } = decoding()
        const decoded = blocks.map((block) => Object.fromEntries(decode(block)))
        expect(decoded).toEqual(
          sent.map((headers) => ({
            ':method': 'POST',
            ':scheme': 'http',
            ':authority': `127.0.0.1:${port}`,
            ...headers,
          })),
        )
      }),
      { numRuns: Math.ceil(RUNS.numRuns / 10) },
    )
  })
})
