// Certificates for the run against the gRPC door: an authority, a server and a client that it signed for localhost, and a
// stranger who signed its own. `openssl` makes them anew for each run.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fail, run } from '../run-command.mjs'

/** Writes `ca.pem`, `server.pem`, `server-key.pem` and so on into a folder. */
export function makeCertificates(folder) {
  const at = (name) => join(folder, name)
  writeFileSync(at('names.txt'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n')
  const own = (name, subject) =>
    openssl('req', '-x509', ...newKey(at(`${name}-key.pem`)), '-out', at(`${name}.pem`), '-days', '2', '-subj', subject)
  own('ca', '/CN=Authority')
  own('stranger', '/CN=localhost')
  for (const name of ['server', 'client']) {
    openssl('req', ...newKey(at(`${name}-key.pem`)), '-out', at(`${name}.csr`), '-subj', '/CN=localhost')
    const signer = ['-CA', at('ca.pem'), '-CAkey', at('ca-key.pem'), '-CAcreateserial', '-extfile', at('names.txt')]
    openssl('x509', '-req', '-in', at(`${name}.csr`), ...signer, '-out', at(`${name}.pem`), '-days', '2')
  }
}

function newKey(path) {
  return ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', path]
}

function openssl(...args) {
  const { ok, output } = run('openssl', args)
  if (!ok) fail(`openssl ${args[0]} failed: ${output}`)
}
