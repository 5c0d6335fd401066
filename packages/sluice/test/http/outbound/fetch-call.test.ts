import { describe, expect, it } from 'vitest'
import { readFetchCall } from '../../../src/http/outbound/fetch-call.js'

const URL_TEXT = 'http://127.0.0.1:8080/a?b=1'
const post = (body: unknown, more: object = {}) =>
  readFetchCall(URL_TEXT, { method: 'POST', body: body as RequestInit['body'], ...more } as RequestInit)
const stream = () => new Blob(['streamed']).stream()
const textOf = ({ input, init }: ReturnType<typeof readFetchCall>) =>
  new Response(init?.body, {}).text().then((text) => [input, text])

describe('a call that waits', () => {
  it('stays as it was made when the caller changes the URL, the fields or the body', async () => {
    const url = new URL(URL_TEXT)
    const headers = new Headers({ a: '1' })
    const bytes = new TextEncoder().encode('bytes')
    const search = new URLSearchParams('q=1')
    const init = { method: 'POST', headers, body: bytes }
    const call = readFetchCall(url, init)
    const [ofBuffer, ofView, ofSearch] = [post(bytes.buffer), post(new DataView(bytes.buffer, 1, 2)), post(search)]
    url.searchParams.set('b', '2')
    headers.set('a', '2')
    bytes.fill(0)
    search.set('q', '2')
    init.method = 'DELETE'
    expect(await textOf(call)).toEqual([URL_TEXT, 'bytes'])
    expect(call.init?.method).toBe('POST')
    expect(new Headers(call.init?.headers).get('a')).toBe('1')
    expect((await textOf(ofBuffer))[1]).toBe('bytes')
    expect((await textOf(ofView))[1]).toBe('yt')
    expect((await textOf(ofSearch))[1]).toBe('q=1')
  })

  it('keeps a form with its files', async () => {
    const form = new FormData()
    form.append('name', 'value')
    form.append('file', new File(['content'], 'file.txt', { type: 'text/plain' }))
    const call = post(form)
    form.delete('name')
    const copy = call.init?.body as FormData
    expect(copy.get('name')).toBe('value')
    expect([(copy.get('file') as File).name, await (copy.get('file') as File).text()]).toEqual(['file.txt', 'content'])
  })

  it('can be sent again unless it is a stream', () => {
    const again = [undefined, null, 'text', new Blob(['a']), new URLSearchParams('a=1'), new FormData()]
    for (const body of [...again, new ArrayBuffer(1), new Uint16Array(1)]) expect(post(body).isRepeatable).toBe(true)
    expect(post(stream(), { duplex: 'half' }).isRepeatable).toBe(false)
    expect(readFetchCall(new Request(URL_TEXT)).isRepeatable).toBe(true)
    const request = () => new Request(URL_TEXT, { method: 'PUT', body: 'text' })
    expect(readFetchCall(request()).isRepeatable).toBe(false)
    expect(readFetchCall(request(), { body: 'other' }).isRepeatable).toBe(true)
  })

  it('is a copy of a Request, and takes its body, as fetch does', async () => {
    const request = new Request(URL_TEXT, { method: 'PUT', headers: { a: '1' }, body: 'text' })
    const { input, init } = readFetchCall(request)
    request.headers.set('a', '2')
    expect(request.bodyUsed).toBe(true)
    const sent = new Request(input, init)
    expect([sent.url, sent.method, sent.headers.get('a'), await sent.text()]).toEqual([URL_TEXT, 'PUT', '1', 'text'])
    expect(() => readFetchCall(request)).toThrow(TypeError)
  })

  it('leaves the body of a Request alone where it has one of its own, or is refused', async () => {
    const request = new Request(URL_TEXT, { method: 'PUT', headers: { a: '1' }, body: 'text' })
    const { input, init } = readFetchCall(request, { body: 'other' })
    const sent = new Request(input, init)
    expect([sent.method, sent.headers.get('a'), await sent.text()]).toEqual(['PUT', '1', 'other'])
    const ofGet = readFetchCall(new Request(URL_TEXT), { method: 'POST', body: 'other' })
    expect(await new Request(ofGet.input, ofGet.init).text()).toBe('other')
    expect(() => readFetchCall(request, { method: 'CONNECT' })).toThrow(TypeError)
    expect(await request.text()).toBe('text')
    expect(readFetchCall(request, { body: 'other' }).isRepeatable).toBe(true)
  })

  it('hands on a request of another library as it is', () => {
    const other = { url: URL_TEXT, method: 'GET', headers: new Headers() } as Request
    const { input, init } = readFetchCall(other)
    expect(input).toBe(other)
    expect(init).toBeUndefined()
  })

  // The signal of a copy may be collected together with the copy, and then does not tell that the caller has aborted.
  it('has the signal of the Request itself, not one that follows it', () => {
    const { signal } = new AbortController()
    const request = new Request(URL_TEXT, { signal })
    for (const { init } of [readFetchCall(request), readFetchCall(request, { method: 'DELETE' })])
      expect(init?.signal).toBe(request.signal)
    expect(readFetchCall(request, { signal }).init?.signal).toBe(signal)
    expect(readFetchCall(request, { signal: null }).init?.signal).toBeNull()
  })

  it('keeps the referrer of a Request, as fetch does unless there is an init', () => {
    const request = new Request(URL_TEXT, { referrer: '', referrerPolicy: 'origin' })
    const { input, init } = readFetchCall(request)
    const sent = new Request(input, init)
    expect([sent.referrer, sent.referrerPolicy]).toEqual([request.referrer, 'origin'])
  })

  it('has the request without its body', () => {
    const { signal } = new AbortController()
    const make = () => new Request(URL_TEXT, { method: 'put', headers: { a: '1' }, body: 'text', signal })
    const request = make()
    const call = readFetchCall(request)
    expect([call.request.url, call.request.method, call.request.headers.get('a')]).toEqual([URL_TEXT, 'PUT', '1'])
    expect(call.signal).toBe(request.signal)
    const other = readFetchCall(make(), { method: 'delete', headers: { b: '2' }, signal: null })
    expect([other.request.method, other.request.headers.get('a'), other.request.headers.get('b')]).toEqual([
      'DELETE',
      null,
      '2',
    ])
    expect(other.signal).toBeUndefined()
  })

  it('takes a request in the place of an init, as fetch does', async () => {
    const template = new Request('http://other.example', { method: 'POST', headers: { a: '1' }, body: 'text' })
    const { request, init, isRepeatable } = readFetchCall(URL_TEXT, template as RequestInit)
    expect([request.url, request.method, isRepeatable]).toEqual([URL_TEXT, 'POST', false])
    const sent = new Request(URL_TEXT, init)
    expect([sent.method, sent.headers.get('a'), await sent.text()]).toEqual(['POST', '1', 'text'])
  })

  it('keeps init fields that only one runtime knows', () => {
    const { init } = readFetchCall(URL_TEXT, { next: { revalidate: 60 } } as RequestInit)
    expect(init).toMatchObject({ next: { revalidate: 60 } })
    expect(readFetchCall(URL_TEXT).init).toBeUndefined()
  })

  it('is refused as fetch refuses it', () => {
    expect(() => readFetchCall('no url')).toThrow(TypeError)
    expect(() => readFetchCall(URL_TEXT, { body: 'of a GET' })).toThrow(TypeError)
    expect(() => readFetchCall(URL_TEXT, { body: stream() })).toThrow(TypeError)
    expect(() => readFetchCall(URL_TEXT, { method: 'CONNECT' })).toThrow(TypeError)
  })
})
