// `npm run test:http2`: asks our own HTTP/2 server what HTTP/2 demands, over plain TCP and over TLS: all sections of h2spec,
// the strict ones too; then calls it with h2load and curl. Go builds h2spec; a program that is not there is skipped, and the
// output says so.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getH2spec } from './http2/get-h2spec.mjs'
import { run } from './run-command.mjs'
import { setUp } from './set-up.mjs'

const MOST_MS = 300_000
const CALLS = 20_000
const FIELDS = ['content-type: application/grpc', 'te: trailers'].flatMap((field) => ['-H', field])
const PATH = '/test.Test/Echo'
/** A message of eleven bytes, with its prefix. */
const MESSAGE = Buffer.from('\0\0\0\0\x0bhello there', 'latin1')

setUp({ build: 'if changed' })
const folder = mkdtempSync(join(tmpdir(), 'sluice-http2-'))
const message = join(folder, 'message')
writeFileSync(message, MESSAGE)
const results = []
try {
  await test('plain TCP', [])
  const certificate = makeCertificate()
  if (certificate === undefined) results.push({ ok: true, text: 'TLS: skipped, because there is no openssl' })
  else await test('TLS', certificate)
} finally {
  rmSync(folder, { recursive: true })
}
console.log(results.map(({ ok, text }) => `${ok ? 'ok    ' : 'FAILED'} ${text}`).join('\n'))
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1

/** Starts a server, and asks it with every program that is there. */
async function test(transport, certificate) {
  const child = fork(fileURLToPath(new URL('./http2/serve-echo.mjs', import.meta.url)), certificate)
  const [{ port }] = await once(child, 'message')
  const isSecure = certificate.length > 0
  for (const [name, ask] of Object.entries({ h2spec: askH2spec, h2load: askH2load, curl: askCurl })) {
    const { skipped, problem, text } = ask(port, isSecure)
    const outcome = skipped === undefined ? (problem ?? text) : `skipped, because ${skipped}`
    results.push({ ok: problem === undefined, text: `${transport}, ${name}: ${outcome}` })
  }
  child.send('faults')
  const [{ faults }] = await once(child, 'message')
  if (faults.length > 0) results.push({ ok: false, text: `${transport}: the server has made errors: ${faults}` })
  child.disconnect()
  await once(child, 'exit')
}

function askH2spec(port, isSecure) {
  const command = getH2spec()
  if (command === undefined) return { skipped: 'there is no Go' }
  const args = ['--strict', '--port', `${port}`, '--timeout', '3', ...(isSecure ? ['--tls', '--insecure'] : [])]
  const { ok, output } = run(command, args, { timeout: MOST_MS })
  const [line, tests, passed] = /(\d+) tests, (\d+) passed.*/.exec(output) ?? []
  const isRight = ok && tests !== undefined && tests === passed
  return isRight ? { text: line } : { problem: output.slice(-4_000) }
}

function askH2load(port, isSecure) {
  if (!run('h2load', ['--version']).ok) return { skipped: 'there is no h2load' }
  const url = `${isSecure ? 'https' : 'http'}://127.0.0.1:${port}${PATH}`
  const { ok, output } = run('h2load', ['-n', `${CALLS}`, '-c', '4', '-m', '16', '-d', message, ...FIELDS, url], {
    timeout: MOST_MS,
  })
  const [line] = /requests: .*/.exec(output) ?? []
  return ok && line?.includes(`${CALLS} succeeded`) ? { text: line } : { problem: output.slice(-4_000) }
}

function askCurl(port, isSecure) {
  if (!run('curl', ['--version']).output.includes('HTTP2')) return { skipped: 'there is no curl with HTTP/2' }
  const answer = join(folder, 'answer')
  const transport = isSecure
    ? ['--insecure', '--http2', `https://127.0.0.1:${port}${PATH}`]
    : ['--http2-prior-knowledge', `http://127.0.0.1:${port}${PATH}`]
  const asked = [
    '--silent',
    '--data-binary',
    `@${message}`,
    '--output',
    answer,
    '--write-out',
    '%{http_version} %{http_code}',
  ]
  const { ok, output } = run('curl', [...asked, ...FIELDS, ...transport], { timeout: MOST_MS })
  if (!ok || output !== '2 200') return { problem: output }
  if (!readFileSync(answer).equals(MESSAGE)) return { problem: 'the answer is not the echo of the message' }
  return { text: output }
}

/** The paths of a certificate and its key, or undefined without openssl. */
function makeCertificate() {
  const [cert, key] = ['cert.pem', 'key.pem'].map((name) => join(folder, name))
  const subject = ['-subj', '/CN=localhost', '-days', '2']
  const asked = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, '-keyout', key, '-out', cert]
  return run('openssl', asked).ok ? [cert, key] : undefined
}
